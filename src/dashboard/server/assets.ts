import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { packageRoot } from '../../native/index.ts'

/** A file of the page. */
export interface Asset {
  readonly type: string
  readonly bytes: Buffer
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const FOLDER = join(packageRoot(), 'dist/web')

/** Every file of the page by its path, read once, so that no request reaches the file system. */
export function readAssets(folder: string = FOLDER): ReadonlyMap<string, Asset> {
  const files = readdirSync(folder).filter((name) => extname(name) in types)
  const assets = new Map(
    files.map((name): [string, Asset] => [
      `/${name}`,
      { type: types[extname(name)]!, bytes: readFileSync(join(folder, name)) },
    ]),
  )
  const index = assets.get('/index.html')
  return index === undefined ? assets : assets.set('/', index)
}
