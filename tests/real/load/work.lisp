;; SPDX-License-Identifier: Apache-2.0
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(loop
  (fib 22)
  (sort (loop for i below 4000 collect (mod (* i 7919) 10007)) #'<)
  (length (format nil "~{~a~^ ~}" (loop for i below 2000 collect i))))
