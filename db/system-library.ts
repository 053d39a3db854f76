// The system's C library, for the little that neither SQLite nor the runtime gives.
import { dlopen, type FFIFunction, type Library } from 'bun:ffi';

// musl's name has the processor in it, in the words of the system.
const PROCESSOR = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const NAMES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['libc.so.6', `libc.musl-${PROCESSOR}.so.1`],
  darwin: ['libSystem.B.dylib'],
};

/** Functions of the C library; undefined where there is none of a known name, as on Windows, or it lacks one of them. */
export function systemLibrary<F extends Record<string, FFIFunction>>(
  functions: F,
): Library<F>['symbols'] | undefined {
  for (const name of NAMES[process.platform] ?? []) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // The next name then.
    }
  }
  return undefined;
}
