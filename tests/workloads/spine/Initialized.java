// SPDX-License-Identifier: Apache-2.0
/** Goes on with the thread's path when it is initialized. */
final class Initialized {
    static {
        Spine spine = (Spine) Thread.currentThread();
        spine.depth = (int) spine.path.steps[spine.depth].step(spine.path, spine.depth);
    }

    private Initialized() {
    }
}
