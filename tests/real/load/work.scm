;; SPDX-License-Identifier: Apache-2.0
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(let loop ()
  (fib 22)
  (sort (map (lambda (i) (modulo (* i 7919) 10007)) (iota 4000)) <)
  (string-join (map number->string (iota 2000)) " ")
  (loop))
