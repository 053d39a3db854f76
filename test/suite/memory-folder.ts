// Keeps what tests write in memory, where the machine has room for it: no commit then waits for a disk.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { canRunIn } from '../support/shared-folders.ts';

// What Linux keeps in memory. Containers have little there, or let nothing run.
const PLACE = '/dev/shm';
// More than a run keeps there at its peak.
const ROOM_BYTES_MIN = 4e9;
const MEMORY_BYTES_MIN = 8e9;
const NAME = 'crm-suite-';
// No run takes as long: a folder that has not changed for this time was left by one that was killed.
const AGE_MS_MAX = 3_600_000;

/** What decides whether there is room; what holds here unless given. */
export interface Room {
  place?: string;
  roomBytesMin?: number;
  memoryBytesMin?: number;
}

/**
 * Makes a folder in memory that every user can enter, to be removed by the caller; null where there is no room for one, or
 * nothing can be run in it.
 */
export function makeMemoryFolder(given: Room = {}): string | null {
  const { place = PLACE, roomBytesMin = ROOM_BYTES_MIN, memoryBytesMin = MEMORY_BYTES_MIN } = given;
  try {
    removeLeft(place);
    const { bavail, bsize } = statfsSync(place);
    if (bavail * bsize < roomBytesMin || availableBytes() < memoryBytesMin) return null;
    const folder = mkdtempSync(join(place, NAME));
    chmodSync(folder, 0o755);
    if (canRunIn(folder)) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // It is no Linux, or not for this user.
  }
  return null;
}

function removeLeft(place: string): void {
  for (const name of readdirSync(place).filter((one) => one.startsWith(NAME))) {
    const folder = join(place, name);
    if (Date.now() - statSync(folder).mtimeMs > AGE_MS_MAX) rmSync(folder, { recursive: true });
  }
}

function availableBytes(): number {
  const [, kilobytes = '0'] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
