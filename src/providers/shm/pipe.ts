import { fstatSync } from 'node:fs'

/** Which pipe a descriptor is: the low 32 bits of its inode, or 0 if it is not a pipe. */
export function pipeInode(descriptor: number): number {
  const status = fstatSync(descriptor)
  return status.isFIFO() ? status.ino | 0 : 0
}
