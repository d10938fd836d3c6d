# SPDX-License-Identifier: Apache-2.0
"""Who can call whom in Java code, as the class files of the program and of its JDK say it.

javap of the JDK that runs prints the calls of each method. An interpreted frame's callee must be one of
these. A compiled one may have inlined what lies between, so its callee must be found by following them. Frames
have no descriptors: methods of one name are one here. A virtual call may go to every class that is above or
below the one that it names. What a method does besides calling is a call of a word in parentheses: `(new)`,
`(lock)`, `(native)`, `(indy)`.
"""
import os
import re
import subprocess

from hp_java import SHORT_LIVED

# Made at run time, without a class file: method handles' forms, lambdas' and reflection's classes.
HIDDEN = re.compile(r"java\.lang\.invoke\.LambdaForm\$|java\.lang\.invoke\.\w+\$Holder$|"
                    r".*\$\$Lambda|(jdk\.internal|sun)\.reflect\.Generated(Method|Constructor)Accessor\d+$")
# Which of their methods stand for something else: share/classes/java/lang/invoke.
POLYMORPHIC = re.compile(r"java\.lang\.invoke\.(MethodHandle|VarHandle|LambdaForm)\b.*\.\w+$")
INVOKE = re.compile(r"\s+\d+: invoke(\w+) .*// (?:Interface)?Method (?:(\S+?)\.)?([^.\s]+?):\(")
DYNAMIC = re.compile(r"\s+\d+: invokedynamic ")
MAKES = re.compile(r"\s+\d+: (?:multia|a)?new(?:array)? ")
LOCKS = re.compile(r"\s+\d+: monitorenter")
HEAD = re.compile(r"(?:[\w-]+ )*?(class|interface) ([\w.$]+)(.*)\{$")
METHOD = re.compile(r"  (?! )(.*?)([\w.$]+)\(.*\)(?: throws .*)?;$|  static \{\};$")
# Whom a method handle's form calls here: links, what reflection makes, and what boxes and checks for it.
FROM_FORM = re.compile(r"java\.lang\.invoke\.|sun\.invoke\.util\.|java\.util\.DualPivotQuicksort\$\$Lambda|"
                       r"(Links|Leaves)\$\w+\.step$|Loaded\.<|java\.lang\.(Class|Object|Long|Integer)\.|"
                       r"jdk\.internal\.misc\.Unsafe\.|"
                       # Reflection's accessors wrap what is thrown.
                       r"java\.lang\.(reflect\.InvocationTarget|ReflectiveOperation)?(Exception|Throwable)\.|\(")
# A generated accessor, which has no class file, wraps what the method that it calls throws.
WRAPS = re.compile(r"java\.lang\.reflect\.InvocationTargetException\.")
ACCESSORS = re.compile(r"(?:jdk\.internal|sun)\.reflect\.(?:Method|Constructor)Accessor(?:Impl)?\.(?:invoke|newInstance)$")
# Classes behind interfaces of the JDK's own that nobody names.
BEHIND = ["java.lang.System$1", "java.lang.System$2", "java.lang.reflect.ReflectAccess",
          "java.lang.invoke.MethodHandleImpl$1", "java.util.ArrayList$SubList", "java.util.SubList", "jdk.internal.loader.ClassLoaders$AppClassLoader",
          "jdk.internal.loader.ClassLoaders$BootClassLoader"]
# So many classes are asked for at once, and so many calls deep a compiler inlines (MaxInlineLevel is 15).
BATCH = 400
DEEP = 15
MOST = 12000


def owner_of(method):
    return method.rpartition(".")[0]


def is_hidden(name):
    return bool(HIDDEN.match(name))


class Calls:
    """The calls of all classes that were asked for; READ gives the text of javap for a list of classes."""

    def __init__(self, read):
        self._read = read
        self.asked, self.supers, self.callees, self.by_name = set(), {}, {}, {}
        self.interfaces = set()
        self.used = set()  # methods whose calls were looked at
        self._reached, self._related, self._above = {}, {}, {}

    def load(self, names):
        names = [name for name in names if name not in self.asked and not HIDDEN.match(name)]
        while names:
            self.asked.update(names)
            for at in range(0, len(names), BATCH):
                self._parse(self._read(sorted(names)[at:at + BATCH]))
            # With what they inherit.
            names = [name for parents in self.supers.values() for name in parents
                     if name not in self.asked]
            names = sorted(set(names))
            for known in (self._reached, self._related, self._above):
                known.clear()

    def _parse(self, text):
        owner = method = None
        for row in text.splitlines():
            head = HEAD.match(row)
            if head:
                owner, method = head.group(2), None
                if head.group(1) == "interface":
                    self.interfaces.add(owner)
                # A class in one with parameters is printed as Outer<…>.Inner.
                words = head.group(3).replace(">.", ">$")
                words = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", words))
                self.supers[owner] = [word for word in re.findall(r"[\w.$]+", words)
                                      if word not in ("extends", "implements", "permits")]
                if owner != "java.lang.Object" and not self.supers[owner]:
                    self.supers[owner] = ["java.lang.Object"]
                continue
            head = METHOD.match(row)
            if head and owner:
                method = self._method(owner, head)
            elif method is not None:
                self._instruction(row, owner, method)

    def _method(self, owner, head):
        name = "<clinit>" if head.group(2) is None else \
            "<init>" if head.group(2) == owner else head.group(2)
        method = self.callees.setdefault(f"{owner}.{name}", set())
        self.by_name.setdefault(name, set()).add(owner)
        words = (head.group(1) or "").split()
        if "native" in words:
            method.add("(native)")
        if "synchronized" in words:
            method.add("(lock)")
        return method

    @staticmethod
    def _instruction(row, owner, method):
        found = INVOKE.match(row)
        if found:
            called = (found.group(2) or owner).replace("/", ".").strip('"')
            called = "java.lang.Object" if called.startswith("[") else called
            method.add(f"{called}.{found.group(3).strip(chr(34))}")
        elif DYNAMIC.match(row):
            method.add("(indy)")
        elif MAKES.match(row):
            method.add("(new)")
        elif LOCKS.match(row):
            method.add("(lock)")

    def is_native(self, method):
        self.load([owner_of(method)])
        self.used.add(method)
        return "(native)" in self.callees.get(method, ())

    def above(self, name):
        """The class and all that it inherits from."""
        if name not in self._above:
            seen, todo = set(), [name]
            while todo:
                one = todo.pop()
                if one not in seen:
                    seen.add(one)
                    todo += self.supers.get(one, [])
            self._above[name] = seen
        return self._above[name]

    def related(self, one, other):
        """Whether an object can be of both: one inherits from the other, or a third class from both."""
        key = one, other
        if key not in self._related:
            self._related[key] = one == other or other in self.above(one) or one in self.above(other) or any(
                {one, other} <= self.above(third) for third in self.supers)
        return self._related[key]

    def methods_of(self, owner):
        return {f"{owner}.{name}" for name, owners in self.by_name.items() if owner in owners}

    def targets(self, called):
        """The methods that a call of this one may get to."""
        owner, _, name = called.rpartition(".")
        return [f"{other}.{name}" for other in self.by_name.get(name, ()) if self.related(owner, other)]

    def _matches(self, called, callee):
        """Whether a call in a class file may be that of this frame."""
        if called.startswith("("):
            return called == callee or called == "(indy)" and is_hidden(owner_of(callee))
        if called == callee:
            return True
        owner, _, name = callee.rpartition(".")
        if POLYMORPHIC.match(called):
            # A VarHandle's access goes through its guard.
            guarded = called.startswith("java.lang.invoke.VarHandle.")
            return is_hidden(owner) or called == callee or \
                owner.startswith("java.lang.invoke.VarHandleGuards" if guarded else "java.lang.invoke.")
        if called.rpartition(".")[2] != name:
            return False
        # Of an interface's method any class's may do, for a class below it that nobody has asked for.
        called_owner = called.rpartition(".")[0]
        return is_hidden(owner) or called_owner in self.interfaces or self.related(called_owner, owner)

    def direct(self, caller, callee):
        if is_hidden(owner_of(caller)):
            return self._from_hidden(caller, callee)
        self.load([owner_of(caller)])
        self.used.add(caller)
        called = self._called(caller, callee)
        self.load(self._owners_of(called, callee))
        return any(self._matches(one, callee) for one in called)

    def load_for(self, pairs):
        """At once what direct() would load for each of these (caller, callee), one after the other."""
        pairs = [(caller, callee) for caller, callee in pairs if not is_hidden(owner_of(caller))]
        self.load(sorted({owner_of(caller) for caller, _ in pairs}))
        self.load(sorted({owner for caller, callee in pairs for owner in self._owners_of(self._called(caller, callee), callee)}))

    def _called(self, caller, callee):
        """Of what CALLER calls that which may be CALLEE."""
        name = callee.rpartition(".")[2]
        return [one for one in self.callees.get(caller, ())
                if one.startswith("(") or one.rpartition(".")[2] == name or POLYMORPHIC.match(one)]

    @staticmethod
    def _owners_of(called, callee):
        """The classes that tell which of those is CALLEE."""
        if not called or callee.startswith("("):
            return []
        return [owner_of(callee), *(owner_of(one) for one in called if not one.startswith("("))]

    @staticmethod
    def _from_hidden(caller, callee):
        """A lambda's class calls its class's body, or the method that stands in its place. A form of a
        method handle calls whatever the handle is for: here only links, and what is made by reflection."""
        owner = owner_of(caller)
        if "$$Lambda" in owner:
            return callee.startswith(owner.partition("$$Lambda")[0]) or callee == "(new)"
        return bool(FROM_FORM.match(callee))

    def reaches(self, caller, callee):
        """As direct(), where calls between may be inlined."""
        key = caller, callee
        if key not in self._reached:
            self._reached[key] = self._search(caller, callee)
        return self._reached[key]

    def _search(self, caller, callee):
        seen, edge = {caller}, {caller}
        for _ in range(DEEP):
            self.load({owner_of(method) for method in edge})
            if any(self._may_call(method, callee) for method in edge):
                return True
            edge = self._inlined(edge) - seen
            if callee in edge:
                return True
            seen |= edge
            if not edge or len(seen) > MOST:
                break
        return False

    def _inlined(self, methods):
        """What a compiler may put into the code of these."""
        self.used |= methods
        called = {one for method in methods for one in self.callees.get(method, ())
                  if not one.startswith("(") and not self.stops(one)}
        self.load({owner_of(one) for one in called})
        # A lambda that is made here may be inlined where it is called.
        dynamic = {owner_of(method) for method in methods if "(indy)" in self.callees.get(method, ())}
        return {target for one in called for target in self.targets(one)}.union(
            *(self.methods_of(owner) for owner in dynamic))

    def _may_call(self, method, callee):
        """As direct(), also when a method handle's forms are inlined between."""
        called = self.callees.get(method, ())
        return self.direct(method, callee) or \
            bool(FROM_FORM.match(callee)) and any(map(POLYMORPHIC.match, called)) or \
            bool(WRAPS.match(callee)) and any(map(ACCESSORS.match, called))

    @staticmethod
    def stops(called):
        """The next link of a path: who is called by it is no callee of the link before."""
        return re.match(r"(Step|Link|Op)\.(step|apply)$", called)


def write(calls, path):
    """What was looked at, for of_file()."""
    with open(path, "w", encoding="utf-8") as file:
        owners = {owner_of(method) for method in calls.used}
        for owner in sorted(owners.union(*(calls.above(one) for one in owners))):
            print("interface" if owner in calls.interfaces else "class", owner, *calls.supers.get(owner, []), file=file)
        dynamic = {owner_of(one) for one in calls.used if "(indy)" in calls.callees.get(one, ())}
        named = {method for owner in dynamic for method in calls.methods_of(owner)}
        for method in sorted(calls.used.union(named) & set(calls.callees)):
            print(method, *sorted(calls.callees[method]), file=file)


def of_file(path):
    """As of_jdk(), of what was written: needs no JDK."""
    calls = Calls(lambda names: "")
    with open(path, encoding="utf-8") as file:
        for row in file:
            name, *rest = row.split()
            if name in ("class", "interface"):
                calls.supers[rest[0]] = rest[1:]
                calls.interfaces.update(rest[:1] if name == "interface" else [])
            else:
                calls.callees[name] = set(rest)
                calls.by_name.setdefault(name.rpartition(".")[2], set()).add(owner_of(name))
    return calls


def of_jdk(home, class_path):
    """Asks this JDK's javap."""
    def read(names):
        done = subprocess.run([os.path.join(home, "bin", "javap"), *SHORT_LIVED, "-c", "-p", "-cp", class_path, *names],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return done.stdout.decode("utf-8", "replace")
    calls = Calls(read)
    calls.load(BEHIND)
    return calls
