import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child, type Outcome } from '../elsewhere.ts'

/** The sources, seen from dist/test/native/verbs-stand-in/. */
const sources = fileURLToPath(new URL('../../../../test/native/verbs-stand-in/', import.meta.url))
const verbsUrl = new URL('../../../src/verbs/index.js', import.meta.url).href
const nativeUrl = new URL('../../../src/native/index.js', import.meta.url).href

/** What a body may use; its source text is sent to the child, so nothing of the file it stands in. */
export interface StandInTools {
  readonly verbs: typeof import('../../../src/verbs/index.ts')
  readonly native: typeof import('../../../src/native/index.ts')
  /** openDevice, and the device is closed after the body. */
  readonly open: typeof import('../../../src/verbs/index.ts').openDevice
  /** Of a held call: resolves when it has begun. */
  readonly untilHeld: () => Promise<void>
  /** Lets it go on. */
  readonly release: () => void
}

export interface StandInOptions {
  /** These calls fail with that errno. */
  readonly fail?: Readonly<Record<string, number>>
  /** This call begins and does not end before `release`. */
  readonly hold?: 'ibv_reg_mr' | 'ibv_modify_qp'
  /** The library lists no devices. */
  readonly empty?: boolean
  /** The library has the experimental verbs of MLNX_OFED 4: all of them, or that many bytes of their table. */
  readonly experimental?: 'all' | number
}

export interface StandInRun extends Outcome {
  /** What the library was asked, a line each. */
  readonly log: readonly string[]
}

function compiler(): string {
  for (const name of [process.env['CXX'], 'c++', 'g++', 'clang++']) {
    if (name === undefined) continue
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' })
      return name
    } catch {}
  }
  throw new Error('there is no C++ compiler')
}

/** Why the stand-in cannot be built here, or false. */
export const noStandIn: string | false = existsSync('/usr/include/infiniband/mlx5dv.h')
  ? false
  : 'libibverbs-dev is not installed, so neither the addon nor the stand-in has verbs'

/** A folder with the stand-in under the library's name. */
export class StandIn implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'aether-stand-in-'))
  static #compiled: Buffer | undefined

  constructor() {
    StandIn.#compiled ??= this.#compile()
    writeFileSync(join(this.folder, 'libibverbs.so.1'), StandIn.#compiled)
    symlinkSync('libibverbs.so.1', join(this.folder, 'libmlx5.so.1'))
  }

  #compile(): Buffer {
    const library = join(this.folder, 'libibverbs.so.1')
    const flags = [
      '-std=c++17',
      '-shared',
      '-fPIC',
      '-fvisibility=hidden',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-Wl,-soname,libibverbs.so.1',
    ]
    execFileSync(compiler(), [...flags, join(sources, 'mlx5-stand-in.cc'), '-o', library], { stdio: 'pipe' })
    return readFileSync(library)
  }

  /** Another library of that name in front of the machine's: a file that is none. */
  breakLibrary(): void {
    rmSync(join(this.folder, 'libibverbs.so.1'))
    writeFileSync(join(this.folder, 'libibverbs.so.1'), 'no library')
  }

  environment(options: StandInOptions = {}): Record<string, string> {
    const fail = Object.entries(options.fail ?? {}).map(([name, errno]) => `${name}=${errno}`)
    return {
      LD_LIBRARY_PATH: this.folder,
      AETHER_TEST_VERBS: verbsUrl,
      AETHER_STAND_IN_LOG: this.#log,
      AETHER_STAND_IN_FAIL: fail.join(','),
      ...(options.hold === undefined ? {} : { AETHER_STAND_IN_HOLD: options.hold }),
      AETHER_STAND_IN_GATE: this.#gate,
      ...(options.empty === true ? { AETHER_STAND_IN_EMPTY: '1' } : {}),
      ...(options.experimental === undefined ? {} : { AETHER_STAND_IN_EXPERIMENTAL: String(options.experimental) }),
    }
  }

  /** Run `body` in a process whose libibverbs is the stand-in. */
  async run(body: (tools: StandInTools) => void | Promise<void>, options: StandInOptions = {}): Promise<StandInRun> {
    rmSync(this.#log, { force: true })
    rmSync(this.#gate, { force: true })
    const program = `Promise.all([import(${JSON.stringify(verbsUrl)}), import(${JSON.stringify(nativeUrl)})])
      .then(async ([verbs, native]) => {
        const devices = []
        const open = (name, options) => {
          const device = verbs.openDevice(name, options)
          devices.push(device)
          return device
        }
        const { existsSync, readFileSync, writeFileSync } = await import('node:fs')
        const isHeld = () => existsSync(process.env.AETHER_STAND_IN_LOG) && /^held /m.test(readFileSync(process.env.AETHER_STAND_IN_LOG, 'utf8'))
        const untilHeld = async () => {
          while (!isHeld()) await new Promise((resolve) => setTimeout(resolve, 1))
        }
        const release = () => writeFileSync(process.env.AETHER_STAND_IN_GATE, '')
        await (${String(body)})({ verbs, native, open, untilHeld, release })
        for (const device of devices) device.close()
      })`
    await using child = new Child(program, { environment: this.environment(options) })
    const outcome = await child.ended()
    const log = existsSync(this.#log) ? readFileSync(this.#log, 'utf8').trimEnd().split('\n') : []
    return { ...outcome, log }
  }

  get #gate(): string {
    return join(this.folder, 'gate')
  }

  get #log(): string {
    return join(this.folder, 'calls')
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
