/** A machine that is restarted, as the space in a directory sees it. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Where the header of an arena has the mark of an orderly end, its time, and the machine's start. */
const ENDED_OFFSET = 9 * 4
const ENDED_WALL_OFFSET = 8 * 8
const BOOT_OFFSET = 1536

/** `crashed`: before the space had ended. `offMs`: how long ago it ended. */
export function restartMachine(directory: string, crashed: boolean, offMs?: number): void {
  const arena = join(directory, 'aether.arena')
  overwrite(arena, BOOT_OFFSET + 1, Buffer.from('ffffffff'))
  if (crashed) overwrite(arena, ENDED_OFFSET, Buffer.alloc(4))
  if (offMs === undefined) return
  const wall = Buffer.alloc(8)
  wall.writeDoubleLE(Date.now() - offMs)
  overwrite(arena, ENDED_WALL_OFFSET, wall)
}

/** Whether the arena has the mark of an orderly end. */
export function hasEndedInOrder(directory: string): boolean {
  return readFileSync(join(directory, 'aether.arena')).readInt32LE(ENDED_OFFSET) === 1
}

function overwrite(path: string, offset: number, change: Buffer): void {
  const file = openSync(path, 'r+')
  writeSync(file, change, 0, change.length, offset)
  closeSync(file)
}
