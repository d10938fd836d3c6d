// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/** Two threads that park in turns, each until the other one wakes it, as often as they can: ManyParks SECONDS. It begins when it reads a line; "parked N NANOSECONDS", "done". */
public class ManyParks {
	static volatile int turn;
	static volatile boolean ends;

	static class Player extends Thread {
		final int own;
		Player other;
		long parks, ns;

		Player(int own) {
			super("player-" + own);
			this.own = own;
		}

		public void run() {
			while (!ends) {
				while (turn != own && !ends)
					parkOnce(this);
				turn = 1 - own;
				LockSupport.unpark(other);
			}
			LockSupport.unpark(other);
		}
	}

	static void parkOnce(Player player) {
		long begin = System.nanoTime();

		LockSupport.parkNanos(player, 50000000);
		player.ns += System.nanoTime() - begin;
		player.parks++;
	}

	public static void main(String[] args) throws Exception {
		Player a = new Player(0), b = new Player(1);

		a.other = b;
		b.other = a;
		System.out.println("ready");
		System.in.read();
		a.start();
		b.start();
		Thread.sleep(Integer.parseInt(args[0]) * 1000L);
		ends = true;
		a.join();
		b.join();
		System.out.println("parked " + (a.parks + b.parks) + " " + (a.ns + b.ns));
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
