/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* HotSpot's probes of a safepoint: what a place's cookie tells the program of it. Included by wire.h. */
#ifndef HOSTPROF_WIRE_SAFEPOINT_H
#define HOSTPROF_WIRE_SAFEPOINT_H

enum wire_safepoint_step {
	WIRE_SAFEPOINT_BEGIN, /* hs_private:safepoint__begin: threads are to be stopped */
	WIRE_SAFEPOINT_OPERATION, /* hotspot:vmops__begin(name, …), also of operations that stop nobody */
	WIRE_SAFEPOINT_OPERATION_END, /* hotspot:vmops__end */
	WIRE_SAFEPOINT_END,	      /* hs_private:safepoint__end: they go on */
	WIRE_SAFEPOINT_STEPS
};

/* The form of a place (WIRE_PLACE_COOKIE()): REG has the first argument, by its DWARF number; 16 and more: nobody knows. */
#define WIRE_SAFEPOINT_FORM(step, reg) ((wire_u32)(step) | (wire_u32)(reg) << 8)
#define WIRE_SAFEPOINT_STEP(form)      ((form)&0xff)
#define WIRE_SAFEPOINT_REG(form)       ((form) >> 8 & 0xff)

#endif
