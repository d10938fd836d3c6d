/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: forked LIBJVM
 * A JVM within a native program that forks and lets the child go on without an exec. Prints
 * "child PID" and waits to be ended; the child ends with it.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* jni.h: JavaVMInitArgs, JNI_VERSION_1_6 */
struct init_args {
	int version;
	int option_count;

	struct {
		char *text;
		void *extra;
	} * options;

	unsigned char ignore_unrecognized;
};

typedef int (*create_fn)(void **vm, void **jni, struct init_args *args);

static int create_jvm(const char *path)
{
	struct init_args args = { 0x00010006, 0, NULL, 0 };
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	create_fn create = lib ? (create_fn)dlsym(lib, "JNI_CreateJavaVM") : NULL;
	void *vm, *jni;

	return create ? create(&vm, &jni, &args) : -1;
}

int main(int argc, char **argv)
{
	pid_t child;

	if (argc != 2 || create_jvm(argv[1]))
		return 1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	printf("child %d\n", (int)child);
	fflush(stdout);
	for (;;)
		pause();
}
