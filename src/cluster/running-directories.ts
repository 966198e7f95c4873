import { readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pidNamespace, runtimeDirectory } from '../runtime/index.ts'
import { hasMembers } from './member-fifo.ts'
import { defaultDirectory, directoryOfAll, type SpaceDirectory } from './space-directory.ts'

/**
 * Where the spaces in directories are that have members of this pid namespace: for those who know only a name. A link
 * for each, `<runtime directory>/directories/<name>-<pid namespace>`. It is a hint: what is true is in the directory.
 * Where the runtime directory cannot be used, there is none.
 */
export function rememberDirectory({ space, path }: Pick<SpaceDirectory, 'space' | 'path'>): void {
  const link = linkOf(space)
  if (link === undefined || targetOf(link) === path) return
  try {
    rmSync(link, { force: true })
    symlinkSync(path, link)
  } catch {
    // Another process has just made it.
  }
}

/** The space has no member any more. */
export function forgetDirectory({ space, path }: Pick<SpaceDirectory, 'space' | 'path'>): void {
  const link = linkOf(space)
  if (link !== undefined && targetOf(link) === path) rmSync(link, { force: true })
}

/** The directory of space `name`, if it has a member: one that was opened here, or `$AETHER_DIRECTORY/NAME`. */
export function runningDirectory(name: string): string | undefined {
  const link = linkOf(name)
  const known = [link === undefined ? undefined : targetOf(link), defaultDirectory(name)]
  return known.find((path) => path !== undefined && hasMembers(path))
}

/** The names of all such spaces. */
export function runningDirectoryNames(): readonly string[] {
  const all = directoryOfAll()
  const names = new Set([...rememberedNames(), ...(all === undefined ? [] : entriesOf(all))])
  return [...names].filter((name) => runningDirectory(name) !== undefined)
}

/** Remove the links that are left if all members were killed, of at most `linksMax`. */
export function forgetEndedDirectories(linksMax: number): void {
  for (const space of rememberedNames().slice(0, linksMax)) {
    const path = targetOf(linkOf(space) ?? '')
    if (path !== undefined && !hasMembers(path)) forgetDirectory({ space, path })
  }
}

function rememberedNames(): readonly string[] {
  const directory = linkDirectory()
  const suffix = `-${pidNamespace()}`
  return (directory === undefined ? [] : entriesOf(directory))
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
}

function linkOf(name: string): string | undefined {
  const directory = linkDirectory()
  return directory === undefined ? undefined : join(directory, `${name}-${pidNamespace()}`)
}

function linkDirectory(): string | undefined {
  try {
    return runtimeDirectory('directories')
  } catch {
    return undefined
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
