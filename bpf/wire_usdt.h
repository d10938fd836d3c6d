/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Probes that HotSpot has in itself (USDT) and that come in steps: what a place's cookie tells the program of it. Included by wire.h. */
#ifndef HOSTPROF_WIRE_USDT_H
#define HOSTPROF_WIRE_USDT_H

/* -e safepoint */
enum wire_safepoint_step {
	WIRE_SAFEPOINT_BEGIN, /* hs_private:safepoint__begin: threads are to be stopped */
	WIRE_SAFEPOINT_OPERATION, /* hotspot:vmops__begin(name, …), also of operations that stop nobody */
	WIRE_SAFEPOINT_OPERATION_END, /* hotspot:vmops__end */
	WIRE_SAFEPOINT_END,	      /* hs_private:safepoint__end: they go on */
	WIRE_SAFEPOINT_STEPS
};

/* -e lock: LockSupport.park() */
enum wire_park_step {
	WIRE_PARK_BEGIN, /* hotspot:thread__park__begin */
	WIRE_PARK_END,	 /* hotspot:thread__park__end */
	WIRE_PARK_STEPS
};

/* The form of a place (WIRE_PLACE_COOKIE()): REG has the first argument, by its DWARF number; 16 and more: nobody knows. */
#define WIRE_USDT_FORM(step, reg) ((wire_u32)(step) | (wire_u32)(reg) << 8)
#define WIRE_USDT_STEP(form)	  ((form)&0xff)
#define WIRE_USDT_REG(form)	  ((form) >> 8 & 0xff)

#endif
