(* SPDX-License-Identifier: Apache-2.0 *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let rec depth n = if n = 0 then 0 else 1 + depth (n - 1)

let () =
  while true do
    ignore (Sys.opaque_identity (fib 22));
    ignore (Sys.opaque_identity (depth 300));
    let l = List.sort compare (List.init 4000 (fun i -> string_of_int (i * 7919 mod 10007))) in
    ignore (Sys.opaque_identity (String.concat " " l))
  done
