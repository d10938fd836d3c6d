// SPDX-License-Identifier: Apache-2.0
import java.security.AlgorithmParameters;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.Security;
import java.security.Signature;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.KeyGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * usage: Crypto [SERVICE…]
 * Every algorithm of the services (MessageDigest, Mac, Cipher, Signature, KeyAgreement) that this JDK has and that works without
 * parameters of its own, each in a thread of its own without an end: Thread.run > Crypto.run > Crypto.turns > an operation. Prints
 * how many, and "ready" when each has run once.
 */
public final class Crypto implements Runnable {
    interface Operation { void run() throws Exception; }

    static final byte[] SMALL = new byte[200], LARGE = new byte[40000];
    static final Map<String, KeyPair> PAIRS = new HashMap<>();
    static volatile int sink;

    final Operation operation;

    Crypto(Operation operation) { this.operation = operation; }

    public void run() { turns(operation); }

    static void turns(Operation operation) {
        for (;;) {
            try {
                operation.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static Operation digest(String name) throws Exception {
        MessageDigest digest = MessageDigest.getInstance(name);
        return () -> {
            digest.update(LARGE);
            digest.update(SMALL);
            sink += digest.digest().length;
        };
    }

    static Operation mac(String name) throws Exception {
        Mac mac = Mac.getInstance(name);
        mac.init(KeyGenerator.getInstance(name).generateKey());
        return () -> sink += mac.doFinal(LARGE).length;
    }

    /* Modes that want a new start vector for each message get it. */
    static Operation cipher(String name) throws Exception {
        Cipher there = Cipher.getInstance(name), back = Cipher.getInstance(name);
        String algorithm = name.contains("/") ? name.substring(0, name.indexOf('/')) : name;
        String base = algorithm.contains("_") ? algorithm.substring(0, algorithm.indexOf('_')) : algorithm;
        boolean pair = base.equals("RSA");
        Key one, other;
        if (pair) {
            one = pair("RSA").getPublic();
            other = pair("RSA").getPrivate();
        } else {
            KeyGenerator generator = KeyGenerator.getInstance(base.startsWith("ChaCha20") ? "ChaCha20" : base);
            if (algorithm.contains("_"))
                generator.init(Integer.parseInt(algorithm.substring(algorithm.indexOf('_') + 1)));
            one = other = generator.generateKey();
        }
        byte[] text = pair ? new byte[16] : new byte[16384];
        return () -> {
            there.init(Cipher.ENCRYPT_MODE, one);
            AlgorithmParameters parameters = there.getParameters();
            byte[] hidden = there.doFinal(text);
            back.init(Cipher.DECRYPT_MODE, other, pair ? null : parameters);
            sink += back.doFinal(hidden).length;
        };
    }

    static KeyPair pair(String algorithm) throws Exception {
        KeyPair pair = PAIRS.get(algorithm);
        if (pair == null)
            PAIRS.put(algorithm, pair = KeyPairGenerator.getInstance(algorithm).generateKeyPair());
        return pair;
    }

    static Operation signature(String name) throws Exception {
        Signature sign = Signature.getInstance(name), verify = Signature.getInstance(name);
        String with = name.substring(name.indexOf("with") + 4);
        String algorithm = !name.contains("with") ? name : with.startsWith("ECDSA") ? "EC" : with.startsWith("RSA") ? "RSA"
            : with.replace("inP1363Format", "");
        KeyPair pair = pair(algorithm);
        return () -> {
            sign.initSign(pair.getPrivate());
            sign.update(SMALL);
            byte[] made = sign.sign();
            verify.initVerify(pair.getPublic());
            verify.update(SMALL);
            sink += verify.verify(made) ? 1 : 0;
        };
    }

    static Operation agreement(String name) throws Exception {
        KeyAgreement agreement = KeyAgreement.getInstance(name);
        KeyPair pair = pair(name.equals("ECDH") ? "EC" : name);
        return () -> {
            agreement.init(pair.getPrivate());
            agreement.doPhase(pair.getPublic(), true);
            sink += agreement.generateSecret().length;
        };
    }

    static Operation make(String service, String name) throws Exception {
        switch (service) {
        case "MessageDigest": return digest(name);
        case "Mac": return mac(name);
        case "Cipher": return cipher(name);
        case "Signature": return signature(name);
        default: return agreement(name);
        }
    }

    static TreeSet<String> names(String service) {
        TreeSet<String> names = new TreeSet<>();
        for (Provider provider : Security.getProviders())
            for (Provider.Service each : provider.getServices())
                if (each.getType().equals(service))
                    names.add(each.getAlgorithm());
        if (service.equals("Cipher")) {
            names.add("AES/CBC/PKCS5Padding");
            names.add("AES/CTR/NoPadding");
            names.add("AES/GCM/NoPadding");
            names.add("AES/ECB/NoPadding");
            names.add("DESede/CBC/PKCS5Padding");
        }
        return names;
    }

    public static void main(String[] args) throws Exception {
        String[] services = args.length > 0 ? args : new String[] {"MessageDigest", "Mac", "Cipher", "Signature", "KeyAgreement"};
        List<Thread> threads = new ArrayList<>();
        for (String service : services)
            for (String name : names(service)) {
                try {
                    Operation operation = make(service, name);
                    operation.run();
                    threads.add(new Thread(new Crypto(operation), service + " " + name));
                } catch (Exception e) {
                    continue; // it wants parameters
                }
            }
        for (Thread thread : threads)
            thread.start();
        System.out.println(threads.size() + " ready");
    }
}
