// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import sun.jvm.hotspot.HotSpotAgent;
import sun.jvm.hotspot.code.CodeBlob;
import sun.jvm.hotspot.code.NMethod;
import sun.jvm.hotspot.debugger.Address;
import sun.jvm.hotspot.debugger.amd64.AMD64ThreadContext;
import sun.jvm.hotspot.oops.Method;
import sun.jvm.hotspot.runtime.Frame;
import sun.jvm.hotspot.runtime.JavaThread;
import sun.jvm.hotspot.runtime.RegisterMap;
import sun.jvm.hotspot.runtime.Threads;
import sun.jvm.hotspot.runtime.VM;
import sun.jvm.hotspot.runtime.x86.X86Frame;

/**
 * usage: ServiceabilityFrames JAVA
 * The Java frames of a thread in a core file of JAVA, by the classes that jhsdb is made of. Questions:
 * "TID CORE"; answers, into the pipe $ANSWERS: "frame PC SP FP BEGIN END NAME" leaf first, "end". BEGIN and
 * END are the code's that it is in; a PC that a native call noted is not always the call's. NAME begins with the kind: I interpreted, C compiled, O by OSR, W native wrapper, S stub. Behind a call stub
 * comes "native PC SP FP", the C++ frame that called it.
 */
public final class ServiceabilityFrames {
    static final int MOST = 200;
    static PrintStream answers;

    static String methodName(Method method) {
        return method.getMethodHolder().getName().asString() + "." + method.getName().asString();
    }

    static String nameOf(Frame frame) {
        if (frame.isInterpretedFrame()) {
            return "I:" + methodName(frame.getInterpreterFrameMethod());
        }
        CodeBlob blob = VM.getVM().getCodeCache().findBlob(frame.getPC());
        if (blob == null) {
            return "?";
        }
        if (!(blob instanceof NMethod)) {
            return "S:" + blob.getName().replaceFirst("^RuntimeStub: ", "");
        }
        NMethod code = (NMethod) blob;
        String kind = code.isNativeMethod() ? "W:" : code.isOSRMethod() ? "O:" : "C:";
        return kind + methodName(code.getMethod());
    }

    static String text(Object address) {
        return address == null ? "0x0" : address.toString();
    }

    static void print(Frame frame, String name) {
        CodeBlob blob = VM.getVM().getCodeCache().findBlob(frame.getPC());
        String code = blob == null ? " 0x0 0x0 " : " " + text(blob.codeBegin()) + " " + text(blob.codeEnd()) + " ";
        answers.println("frame " + text(frame.getPC()) + " " + text(frame.getSP()) + " " + text(frame.getFP()) + code
            + name.replace('/', '.').replace('+', '/').replace(' ', '_'));
    }

    /** A call stub has a frame pointer: its caller's is there, behind it the return address. */
    static void printCallerOfStub(Frame stub) {
        Address fp = stub.getFP();
        answers.println("native " + text(fp.getAddressAt(8)) + " " + text(fp.addOffsetTo(16)) + " "
            + text(fp.getAddressAt(0)));
    }

    /** In Java code the thread's registers say it, elsewhere what it noted when it left Java code. */
    static Frame topFrame(JavaThread thread, Address pc, Address sp, Address fp) {
        if (VM.getVM().getCodeCache().contains(pc)) {
            return new X86Frame(sp, fp, pc);
        }
        Address last = thread.getLastJavaSP();
        if (last == null) {
            return null;
        }
        Address from = thread.getLastJavaPC();
        return new X86Frame(last, thread.getLastJavaFP(), from == null ? last.getAddressAt(-8) : from);
    }

    static void walk(JavaThread thread) {
        AMD64ThreadContext context = (AMD64ThreadContext) thread.getThreadProxy().getContext();
        Address pc = context.getRegisterAsAddress(AMD64ThreadContext.RIP);
        Address sp = context.getRegisterAsAddress(AMD64ThreadContext.RSP);
        Frame frame = topFrame(thread, pc, sp, context.getRegisterAsAddress(AMD64ThreadContext.RBP));
        RegisterMap map = thread.newRegisterMap(true);
        for (int i = 0; frame != null && i < MOST; i++) {
            print(frame, nameOf(frame));
            if (frame.isEntryFrame()) {
                printCallerOfStub(frame);
            }
            frame = frame.isFirstFrame() ? null : frame.sender(map);
        }
    }

    static void answer(String java, String core, String tid) {
        HotSpotAgent agent = new HotSpotAgent();
        try {
            agent.attach(java, core);
            Threads threads = VM.getVM().getThreads();
            for (int i = 0; i < threads.getNumberOfThreads(); i++) {
                JavaThread thread = threads.getJavaThreadAt(i);
                if (thread.getThreadProxy().toString().equals(tid)) {
                    walk(thread);
                }
            }
        } catch (Exception | Error e) {
            answers.println("error " + e.toString().replace('\n', ' '));
        } finally {
            agent.detach();
        }
        answers.println("end");
        answers.flush();
    }

    public static void main(String[] arguments) throws Exception {
        answers = new PrintStream(new FileOutputStream("/proc/self/fd/" + System.getenv("ANSWERS")));
        // Where a core file cannot be opened the agent closes descriptor 0, too.
        BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream("/proc/self/fd/0")));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            answer(arguments[0], words[1], words[0]);
        }
    }
}
