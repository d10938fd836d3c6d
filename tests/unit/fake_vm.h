/* SPDX-License-Identifier: Apache-2.0 */
/* A fabricated JVM: VMStructs tables made from lists, and memory for what they describe. */
#ifndef HOSTPROF_TESTS_FAKE_VM_H
#define HOSTPROF_TESTS_FAKE_VM_H

#include "fake_memory.h"
#include "jvm/layout/vmstructs.h"

struct fake_field {
	const char *type, *name; /* "_size:int16_t" is a field of that C++ type; else "int" */
	uint64_t value;		 /* offset; address when STATIC */
	int is_static;
};

struct fake_type {
	const char *name;
	uint64_t size;
};

struct fake_vm {
	struct fake_memory fake;
	uint64_t symbols[VM_SYMBOL_COUNT];
	struct vmstructs *vs;
};

static inline void fake_vm_variable(struct fake_vm *vm, enum vmtables_symbol symbol, uint64_t value)
{
	vm->symbols[symbol] = fake_add(&vm->fake, &value, sizeof(value));
}

/* Entries of seven words: type, name, C type, is static, offset, address. */
static inline void fake_vm_add_fields(struct fake_vm *vm, const struct fake_field *fields,
				      size_t count)
{
	uint64_t table = fake_alloc(&vm->fake, (count + 1) * 56);

	for (size_t i = 0; i < count; i++) {
		char name[96] = "", *ctype;

		strncpy(name, fields[i].name, sizeof(name) - 1);
		ctype = strchr(name, ':');
		if (ctype && ctype[1] != ':')
			*ctype++ = '\0';
		const uint64_t entry[7] = {
			fake_string(&vm->fake, fields[i].type),
			fake_string(&vm->fake, name),
			fake_string(&vm->fake, ctype && *ctype != ':' ? ctype : "int"),
			(uint64_t)fields[i].is_static,
			fields[i].is_static ? 0 : fields[i].value,
			fields[i].is_static ? fields[i].value : 0,
		};

		fake_put(&vm->fake, table + i * sizeof(entry), entry, sizeof(entry));
	}
	fake_vm_variable(vm, VM_STRUCTS, table);
	fake_vm_variable(vm, VM_STRUCTS_STRIDE, 56);
	for (unsigned int i = 0; i < 6; i++)
		fake_vm_variable(vm, VM_STRUCTS_TYPE_NAME + i, 8 * i);
}

/* Tables of (name, value) pairs. */
static inline void fake_vm_add_pairs(struct fake_vm *vm, enum vmtables_symbol first,
				     const struct fake_type *pairs, size_t count)
{
	uint64_t table = fake_alloc(&vm->fake, (count + 1) * 16);

	for (size_t i = 0; i < count; i++) {
		const uint64_t entry[2] = { fake_string(&vm->fake, pairs[i].name), pairs[i].size };

		fake_put(&vm->fake, table + i * sizeof(entry), entry, sizeof(entry));
	}
	fake_vm_variable(vm, first, table);
	fake_vm_variable(vm, first + 1, 16);
	fake_vm_variable(vm, first + 2, 0);
	fake_vm_variable(vm, first + 3, 8);
}

static inline void fake_vm_fill(struct fake_vm *vm, const struct fake_field *fields,
				size_t field_count, const struct fake_type *types,
				size_t type_count)
{
	static const struct fake_type constant = { "CodeBlobKind::Nmethod", 1 };

	fake_vm_add_fields(vm, fields, field_count);
	fake_vm_add_pairs(vm, VM_TYPES, types, type_count);
	fake_vm_add_pairs(vm, VM_INTS, &constant, 1);
	fake_vm_add_pairs(vm, VM_LONGS, &constant, 1);
}

static inline void fake_vm_open(struct fake_vm *vm, const struct fake_field *fields,
				size_t field_count, const struct fake_type *types,
				size_t type_count)
{
	fake_vm_fill(vm, fields, field_count, types, type_count);
	assert_int_equal(vmstructs_open_memory(&vm->fake.memory, vm->symbols, &vm->vs), 0);
}

static inline void fake_vm_release(struct fake_vm *vm)
{
	vmstructs_close(vm->vs);
	vm->vs = NULL;
}

#endif
