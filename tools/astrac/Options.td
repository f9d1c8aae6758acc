// The options of astrac. Groups are the headings of the help.
include "llvm/Option/OptParser.td"

def output_group : OptionGroup<"output">, HelpText<"OUTPUT">;
def code_group : OptionGroup<"code">, HelpText<"CODE">;
def run_group : OptionGroup<"run">, HelpText<"RUN AND TEST">;
def info_group : OptionGroup<"info">, HelpText<"INFORMATION">;

def o : JoinedOrSeparate<["-"], "o">, MetaVarName<"<file>">,
    Group<output_group>,
    HelpText<"Write the object (and the C header beside it), the module, or the result of run">;
def shared : Flag<["-", "--"], "shared">, Group<output_group>,
    HelpText<"Make a module that is loaded by its path">;
def batch : Flag<["--"], "batch">, Group<output_group>,
    HelpText<"Give every tensor of the exports one more axis in front: a call computes a batch">;
def tests : Flag<["--"], "tests">, Group<output_group>,
    HelpText<"With -shared: a module of the test blocks instead of the exports">;
def emit_EQ : Joined<["--"], "emit=">, MetaVarName<"<phase>">,
    Group<output_group>, HelpText<"Print the program as it is after a phase (listed below), or write it with -o">;

def O : Joined<["-"], "O">, MetaVarName<"<0|1|2>">, Group<code_group>,
    HelpText<"How much work to put into the generated code (default 2); never changes a result">;
def fuse_EQ : Joined<["--"], "fuse=">, MetaVarName<"<on|off>">,
    Group<code_group>,
    HelpText<"Gather operations into kernels of the object's own (default on); never changes a result">;
def target_EQ : Joined<["--"], "target=">, MetaVarName<"<name>">,
    Group<code_group>,
    HelpText<"Processor to make code for: x86_64-linux-gnu (default) or aarch64-linux-gnu">;
def device_EQ : Joined<["--"], "device=">, MetaVarName<"<name>">,
    Group<code_group>, HelpText<"Device that functions run on (default and only: cpu)">;
def std_EQ : Joined<["--"], "std=">, MetaVarName<"<folder>">,
    Group<code_group>, HelpText<"Folder of the standard library">;

def threads_EQ : Joined<["--"], "threads=">, MetaVarName<"<n>">,
    Group<run_group>, HelpText<"Threads to compute with (default 1); never changes a result">;
def threads : Separate<["--"], "threads">, Alias<threads_EQ>;
def cpu_level_EQ : Joined<["--"], "cpu-level=">, MetaVarName<"<level>">,
    Group<run_group>,
    HelpText<"Highest level to take kernels for: ref, v3 or v4 (default: the processor's); never changes a result">;
def cpu_level : Separate<["--"], "cpu-level">, Alias<cpu_level_EQ>;
def trace_EQ : Joined<["--"], "trace=">, MetaVarName<"<file>">,
    Group<run_group>, HelpText<"Write what ran when as a Chrome trace, for Perfetto">;
def profile : Flag<["--"], "profile">, Group<run_group>,
    HelpText<"Print where the time went, kernel by kernel, against what the machine can do">;
def stop_at_EQ : Joined<["--"], "stop-at=">, MetaVarName<"<nan|inf|both>">,
    Group<run_group>,
    HelpText<"Stop at the first NaN or infinity that a kernel makes, and name its line">;
def filter_EQ : Joined<["--"], "filter=">, MetaVarName<"<text>">,
    Group<run_group>, HelpText<"Run only the tests with <text> in their name">;
def filter : Separate<["--"], "filter">, Alias<filter_EQ>;

def explain_EQ : Joined<["--"], "explain=">, MetaVarName<"<code>">,
    Group<info_group>, HelpText<"Explain an error code, with an example">;
def explain : Separate<["--"], "explain">, Alias<explain_EQ>;
def help : Flag<["-", "--"], "help">, Group<info_group>, HelpText<"Print this">;
def h : Flag<["-"], "h">, Alias<help>;
def version : Flag<["--"], "version">, Group<info_group>,
    HelpText<"Print the versions of the compiler, the object ABI and the arithmetic">;
