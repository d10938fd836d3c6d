// SPDX-License-Identifier: Apache-2.0
/** A step of a path: does a little and calls the next one. Called through itable stubs. */
public interface Step {
    long step(Path path, int depth);
}
