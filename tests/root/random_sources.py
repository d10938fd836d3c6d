# SPDX-License-Identifier: Apache-2.0
"""The sources of a program made at random: made/*.java for javac --release 8, and made.c.

A body is longer than HotSpot's compilers inline (more than 325 bytecodes: FreqInlineSize in
share/opto/c2_globals.hpp; C1MaxInlineSize is 35), C functions have the attribute noipa: so each
function that is called has a frame.
"""
import os

from random_program import C, JAVA, NATIVE

C_TYPES = {"int": "jint", "long": "jlong", "double": "jdouble", "void": "void"}
LETTERS = {"int": "I", "long": "J", "double": "D", "void": "V"}
UNION = {"int": "i", "long": "j", "double": "d"}
CALLS = {"int": "Int", "long": "Long", "double": "Double", "void": "Void"}


def write_sources(program, directory):
    """Returns the Java files and the C file."""
    os.makedirs(os.path.join(directory, "made"), exist_ok=True)
    texts = {f"made/T{number}.java": java_class(program, number)
             for number in range(len(program.workers))}
    texts.update({f"made/W{number}.java": worker_class(number, paths)
                  for number, paths in enumerate(program.workers)})
    texts["made/Plan.java"] = plan_class(program)
    texts["made.c"] = c_file(program)
    for name, text in texts.items():
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            file.write(text)
    return [name for name in texts if name.endswith(".java")], "made.c"


# --- what both languages share ----------------------------------------------------------------


def value(rng, type_name, names):
    """An expression of a type from the variables there are: (type, name)."""
    _, one = rng.choice(names)
    _, two = rng.choice(names)
    number = rng.randrange(3, 99)
    if type_name == "double":
        return f"({one} * 0.25 + {two} * 0.5 + {number})"
    return f"(({type_name}) {one} * {number} ^ ({type_name}) {two})"


def mixing(rng, names, count):
    """Statements that need all variables."""
    rows = []
    for number in range(count):
        type_name, name = names[number % len(names)]
        rows.append(f"{name} = {value(rng, type_name, names)};")
    return rows


def variables(function, prefix, types):
    return [(type_name, f"{prefix}{number}") for number, type_name in enumerate(types)]


def given(function):
    """Its parameters behind path, depth and n."""
    return variables(function, "a", function.params)


def kept(function):
    """Its local variables."""
    return variables(function, "v", function.locals)


def declarations(function, type_names=None):
    names = [("int", "path"), ("int", "depth"), *given(function)]
    rows = []
    for type_name, name in kept(function):
        shown = type_names[type_name] if type_names else type_name
        rows.append(f"{shown} {name} = {value(function.rng, type_name, names)};")
    return rows


def sum_of(function):
    return " + ".join(name for _, name in kept(function))


def arguments(caller, callee):
    return [f"({type_name}) {caller.rng.choice(kept(caller))[1]}" for type_name in callee.params]


# --- Java ---------------------------------------------------------------------------------------


def indented(rows, tabs):
    return "".join("\t" * tabs + row + "\n" for row in rows)


def java_head(function):
    modifiers = ["static"] * function.static + ["synchronized"] * function.synchronized + \
        ["native"] * (function.kind == NATIVE)
    params = ["int path", "int depth", "int n", *(f"{type_name} {name}"
                                                for type_name, name in given(function))]
    return " ".join([*modifiers, function.result, f"{function.name}({', '.join(params)})"])


def java_call(caller, callee):
    place = callee.class_name if callee.static else f"{callee.class_name}.SELF"
    text = ", ".join(["path", "depth + 1", "n", *arguments(caller, callee)])
    call = f"{place}.{callee.name}({text})"
    if callee.result == "void":
        return f"{call};"
    type_name, name = caller.rng.choice(kept(caller))
    return f"{name} += ({type_name}) {call};"


def java_method(function):
    rng = function.rng
    if function.kind == NATIVE:
        return f"\t{java_head(function)};\n"
    rows = indented(declarations(function), 2)
    if function.leaf:
        rows += "\t\tfor (int k = 0; k < n; k++) {\n" + \
            indented([*mixing(rng, kept(function), 30), f"{kept(function)[0][1]} += k;"], 3) + \
            "\t\t}\n"
    else:
        rows += indented(mixing(rng, kept(function), 16), 2)
        rows += "\t\tswitch (Plan.NEXT[path][depth]) {\n"
        for number, callee in enumerate(function.callees):
            rows += f"\t\tcase {number}:\n" + indented([java_call(function, callee), "break;"], 3)
        rows += "\t\t}\n" + indented(mixing(rng, kept(function), 16), 2)
    result = "Plan.sink = (long) (SUM);" if function.result == "void" else \
        f"return ({function.result}) (SUM);"
    rows += indented([result.replace("SUM", sum_of(function))], 2)
    return f"\t{java_head(function)} {{\n{rows}\t}}\n"


def java_class(program, number):
    name = f"T{number}"
    methods = [java_method(function) for function in program.functions
               if function.class_name == name and function.kind != C]
    head = f"package made;\n\nfinal class {name} {{\n\tstatic final {name} SELF = new {name}();\n\n"
    return head + "\n".join(methods) + "}\n"


WORKER = """package made;

final class W%(number)d extends Thread {
	static final double[] WEIGHTS = { %(weights)s };
	static final long[] SPENT = new long[WEIGHTS.length];
	static final long[] BASE = new long[WEIGHTS.length];
	static final int[] COUNTS = new int[WEIGHTS.length];
	static final int[] TURNS = new int[WEIGHTS.length];
	/** What turns took that do not work at the leaf, and their number. */
	static final long[] WAY = new long[WEIGHTS.length];
	static final int[] WAYS = new int[WEIGHTS.length];
	/** CPU time up to the end of its last turn. */
	static long clock;

	W%(number)d() {
		super(null, null, "made-%(number)d", 512L << 20);
		setDaemon(true);
	}

	static int poorest() {
		int best = 0;
		for (int k = 1; k < WEIGHTS.length; k++) {
			if (SPENT[k] / WEIGHTS[k] < SPENT[best] / WEIGHTS[best]) {
				best = k;
			}
		}
		return best;
	}

	/** So many turns at the leaf that it takes 3 ms and thrice the way to it. */
	static void adjust(int k, int n, long took) {
		SPENT[k] += took;
		if (n == 0) {
			BASE[k] = Math.min(took, 200000000L);
			WAY[k] += took;
			WAYS[k]++;
			return;
		}
		double wanted = 3e6 + 4.0 * BASE[k];
		double next = n * Math.max(0.5, Math.min(2, wanted / Math.max(took, 1)));
		COUNTS[k] = (int) Math.max(1, Math.min(next, 1e9));
	}

	@Override
	public void run() {
		java.util.Arrays.fill(COUNTS, 100);
		while (!Plan.stop) {
			int k = poorest();
			int n = TURNS[k]++ %% 32 == 0 ? 0 : COUNTS[k];
			long before = Plan.clock();
			switch (k) {
%(cases)s			}
			clock = Plan.clock();
			adjust(k, n, clock - before);
		}
	}
}
"""


def worker_class(number, paths):
    cases = ""
    for path in paths:
        first = path.functions[0]
        place = first.class_name if first.static else f"{first.class_name}.SELF"
        extra = "".join(f", {7 + k}" for k in range(len(first.params)))
        # Plan.NEXT has all paths of all workers.
        cases += f"\t\t\tcase {path.number}:\n\t\t\t\t{place}.{first.name}(" \
            f"{number * len(paths) + path.number}, 0, n{extra});\n\t\t\t\tbreak;\n"
    weights = ", ".join(f"{path.weight:.4f}" for path in paths)
    return WORKER % {"number": number, "weights": weights, "cases": cases}


PLAN = """package made;

public final class Plan {
	static volatile boolean stop;
	static volatile long sink;
	/** By path and depth: which of its callees a function calls. */
	static final byte[][] NEXT = {
%(next)s	};

	/** CPU time of the calling thread in ns. */
	static native long clock();

	static native void init(%(init)s);

	private static void show(int worker, long[] spent, int[] turns, long[] way, int[] ways) {
		for (int path = 0; path < spent.length; path++) {
			System.out.println("path " + worker + " " + path + " " + spent[path] + " " + turns[path]
					+ " " + way[path] + " " + ways[path]);
		}
	}

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		init(%(selves)s);
%(start)s		Thread.sleep(Long.parseLong(args[1]));
		System.out.println("ready");
		int shown = 0;
		for (int c = System.in.read(); c >= 0; c = System.in.read()) {
%(show)s			System.out.println("shown " + ++shown);
		}
		stop = true;
	}
}
"""


def plan_class(program):
    numbers = range(len(program.workers))
    rows = "".join('\t\t"%s".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1),\n' %
                   "".join(f"\\{step:03o}" for step in path.extras)
                   for paths in program.workers for path in paths)
    return PLAN % {
        "next": rows,
        "init": ", ".join(f"T{n} t{n}" for n in numbers),
        "selves": ", ".join(f"T{n}.SELF" for n in numbers),
        "start": "".join(f"\t\tnew W{n}().start();\n" for n in numbers),
        "show": "".join(f"\t\t\tshow({n}, W{n}.SPENT, W{n}.TURNS, W{n}.WAY, W{n}.WAYS);\n"
                        f'\t\t\tSystem.out.println("worker {n} " + W{n}.clock);\n'
                        for n in numbers),
    }


# --- C ------------------------------------------------------------------------------------------


def c_head(function):
    params = ["jint path", "jint depth", "jint n", *(f"{C_TYPES[type_name]} {name}"
                                                    for type_name, name in given(function))]
    result = C_TYPES[function.result]
    if function.kind == C:
        return f"static {result} {function.symbol}(JNIEnv *env, {', '.join(params)})"
    place = "jclass" if function.static else "jobject"
    return f"JNIEXPORT {result} JNICALL {function.frames[1]}(JNIEnv *env, {place} self, " \
        f"{', '.join(params)})"


def c_frame(function):
    """Something of an odd size on the stack; "" nothing."""
    rng = function.rng
    size = rng.choice((1, 3, 17, 100, 251, 1001, 5003))
    return rng.choice((
        "",
        f"char odd[{size}];",
        f"char *odd = alloca({size} + (depth * 37 & 255));",
        f"char odd[{size} + (depth * 13 & 127)];",
        f"_Alignas(64) char odd[{size}];",
        f"_Alignas(32) char odd[{size}]; char *more = alloca(16 + (n & 63)); HOLD(more);",
    ))


def c_call(caller, callee):
    rng = caller.rng
    args = ["path", "depth + 1", "n", *(text.replace("(int)", "(jint)").replace("(long)", "(jlong)")
                                        for text in arguments(caller, callee))]
    if callee.kind == C:
        call = f"{callee.symbol}(env, {', '.join(args)})"
    else:
        call = c_call_java(rng, callee, args)
    if callee.result == "void":
        return f"{call};"
    type_name, name = rng.choice(kept(caller))
    return f"{name} += ({C_TYPES[type_name]}) {call};"


def c_call_java(rng, callee, args):
    how = "Static" if callee.static else rng.choice(("", "Nonvirtual"))
    place = {"Static": f"class_{callee.class_name}", "": f"self_{callee.class_name}",
             "Nonvirtual": f"self_{callee.class_name}, class_{callee.class_name}"}[how]
    place += f", id_{callee.symbol}"
    call = f"(*env)->Call{how}{CALLS[callee.result]}Method"
    if rng.random() < 0.5:
        return f"{call}(env, {place}, {', '.join(args)})"
    types = ["int"] * 3 + callee.params
    values = ", ".join(f"{{ .{UNION[name]} = {text} }}" for name, text in zip(types, args))
    return f"{call}A(env, {place}, (const jvalue[]) {{ {values} }})"


def c_function(function):
    rng = function.rng
    rows = declarations(function, C_TYPES)
    frame = c_frame(function)
    rows += [frame, "HOLD(odd);"] if frame else []
    if function.leaf:
        rows += ["for (jint k = 0; k < n; k++) {", *mixing(rng, kept(function), 30),
                 f"{kept(function)[0][1]} += k;", "}"]
    else:
        rows += mixing(rng, kept(function), rng.randint(3, 40))
        rows.append("switch (next_of[path][depth]) {")
        for number, callee in enumerate(function.callees):
            rows += [f"case {number}:", c_call(function, callee), "break;"]
        rows += ["}", *mixing(rng, kept(function), rng.randint(3, 40))]
    rows += ["HOLD(odd);"] if frame else []
    result = "sink = (jlong) (SUM);" if function.result == "void" else "return SUM;"
    rows.append(result.replace("SUM", sum_of(function)))
    return f"NOIPA {c_head(function)}\n{{\n{indented(rows, 1)}}}\n"


C_HEAD = """#include <alloca.h>
#include <jni.h>
#include <time.h>

#define NOIPA __attribute__((noipa))
#define HOLD(place) __asm__ volatile("" : : "r"(&(place)[0]) : "memory")

static volatile jlong sink;

JNIEXPORT jlong JNICALL Java_made_Plan_clock(JNIEnv *env, jclass self)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}
"""


def c_ids(program):
    """Statics of classes and methods, and the function that fills them."""
    called = [function for function in program.functions if function.kind != C]
    numbers = range(len(program.workers))
    text = "".join(f"static jclass class_T{n};\nstatic jobject self_T{n};\n" for n in numbers)
    text += "".join(f"static jmethodID id_{function.symbol};\n" for function in called)
    params = "".join(f", jobject t{n}" for n in numbers)
    rows = []
    for n in numbers:
        rows += [f"self_T{n} = (*env)->NewGlobalRef(env, t{n});",
                 f"class_T{n} = (*env)->NewGlobalRef(env, (*env)->GetObjectClass(env, t{n}));"]
    for function in called:
        letters = "".join(LETTERS[type_name] for type_name in function.params)
        rows.append(f"id_{function.symbol} = (*env)->Get{'Static' * function.static}MethodID(env, "
                    f"class_{function.class_name}, \"{function.name}\", "
                    f"\"(III{letters}){LETTERS[function.result]}\");")
    head = f"JNIEXPORT void JNICALL Java_made_Plan_init(JNIEnv *env, jclass self{params})"
    return f"{text}\n{head}\n{{\n{indented(rows, 1)}}}\n"


def c_file(program):
    paths = [path for paths in program.workers for path in paths]
    text = C_HEAD + "\n" + c_ids(program) + "\n"
    for number, path in enumerate(paths):
        text += f"static const unsigned char next_{number}[] = " \
            f"{{ {', '.join(map(str, path.extras))} }};\n"
    text += "static const unsigned char *const next_of[] = { " + \
        ", ".join(f"next_{number}" for number in range(len(paths))) + " };\n\n"
    in_c = [function for function in program.functions if function.kind != JAVA]
    text += "".join(f"{c_head(function)};\n" for function in in_c if function.kind == C) + "\n"
    return text + "\n".join(c_function(function) for function in in_c)
