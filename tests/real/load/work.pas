{ SPDX-License-Identifier: Apache-2.0 }
program work;
uses SysUtils, Classes;

function fib(n: integer): int64;
begin
  if n < 2 then fib := n else fib := fib(n - 1) + fib(n - 2);
end;

var
  i: integer;
  words: TStringList;
  text: string;
begin
  while true do begin
    fib(22);
    words := TStringList.Create;
    for i := 0 to 4000 do words.Add(IntToStr(i * 7919 mod 10007));
    words.Sort;
    text := words.Text;
    if length(text) = 0 then halt(1);
    words.Free;
  end;
end.
