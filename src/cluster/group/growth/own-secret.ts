import { linkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { runtimeDirectory } from '../../../runtime/index.ts'
import { makeSecret, readSecret } from '../../hosts/secret.ts'

/** The secret that processes of this user and machine share for a group. The first that asks for it makes it. */
export function ownSecret(group: string): Buffer {
  const path = join(runtimeDirectory('groups'), `${group}.secret`)
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, makeSecret(), { mode: 0o600 })
  try {
    // It has its name when it is whole.
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
  return readSecret(path)
}
