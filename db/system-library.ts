// The system's C library, for the few functions that neither SQLite nor the runtime offers.
import { dlopen, type FFIFunction, type Library } from 'bun:ffi';

// musl's file name contains the system's name of the processor.
const PROCESSOR = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const NAMES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['libc.so.6', `libc.musl-${PROCESSOR}.so.1`],
  darwin: ['libSystem.B.dylib'],
};

/** Functions of the C library; undefined if no library is found, as on Windows, or a function is missing. */
export function systemLibrary<F extends Record<string, FFIFunction>>(
  functions: F,
): Library<F>['symbols'] | undefined {
  for (const name of NAMES[process.platform] ?? []) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // Tries the next name.
    }
  }
  return undefined;
}
