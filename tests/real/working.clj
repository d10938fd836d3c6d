; SPDX-License-Identifier: Apache-2.0
; Agents that pass numbers on to each other: each action is short, and the pool's threads sleep in between.
; Argument: seconds.
(def ring (mapv agent (range 64)))

(defn work [state hops]
  (let [next-state (reduce (fn [sum n] (mod (+ (* 31 sum) n) 1000003)) state (range 300))]
    (send (ring (mod (+ hops next-state) 64)) work (inc hops))
    next-state))

(doseq [i (range 4)]
  (send (ring i) work i))
(println "ready")
(Thread/sleep (* 1000 (Long/parseLong (first *command-line-args*))))
(shutdown-agents)
(System/exit 0)
