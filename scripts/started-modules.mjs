/** Modules that are started in a thread or process of their own: `new URL('./worker.js', import.meta.url)`. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const STARTED = /new URL\(\s*'(\.[^']*\.js)',\s*import\.meta\.url\s*\)/g

/** The module that `place` starts, seen from `path`. What is not there stands in an example or a message. */
export function startedModule(path, place) {
  const started = join(dirname(path), place)
  return existsSync(started) ? started : undefined
}

/** Every module that the text of `path` starts. */
export function startedModules(path, text) {
  return [...text.matchAll(STARTED)].map(([, place]) => startedModule(path, place)).filter(Boolean)
}
