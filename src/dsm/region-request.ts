import process from 'node:process'
import { ArgumentError, checkBoolean, checkOptions, checkSignal, mustBe, type OptionNames } from '../native/index.ts'
import { type Coherence, type CoherenceKind, checkCoherence } from './coherence.ts'
import { checkPlacement, type Placement } from './placement.ts'
import { parseSize, type Size } from './size.ts'

/** What a process may do with a region. */
export type RegionAccess = 'read' | 'write'

/** Options of `openRegion`. */
export interface RegionOptions {
  /** Length in bytes, or text like `'64MiB'`. May be left out to open a region that exists. */
  readonly size?: Size
  /** Default `'auto'`. */
  readonly coherence?: Coherence
  /** Unit of coherence: a multiple of 4 KiB, default 4 KiB. Has no effect on `hardware`. */
  readonly pageSize?: Size
  /** Which rank keeps each page; see {@link Placement}. Default `'block'`. Has no effect on `hardware`. */
  readonly placement?: Placement
  /**
   * What this process may do with it; default `'write'`, which includes reading. With `'read'` every call that would
   * write throws ReadOnlyError. A store into a view ends the process with status 72 and a message, since a store cannot
   * throw. Other processes may open it differently.
   */
  readonly access?: RegionAccess
  /**
   * The most memory that pages of other ranks may take up in this process, in bytes: at least four pages. When it is
   * full, the pages that are needed least are given back, and written back first if they were changed. Default: no
   * bound. Has no effect on `hardware`; each rank sets its own.
   */
  readonly cacheSize?: Size
  /**
   * With `false` a page of another rank is given back right after each use. Default `true`. Has no effect on
   * `hardware`.
   */
  readonly cacheEnabled?: boolean
  /**
   * How many further copies are kept of each page's last fenced bytes; default 0.
   *
   * With 1, two ranks keep them: the page's home and the next. A page is fenced by `fence()`, by a barrier, and when it
   * goes to another rank. The bytes then outlive the end of any one rank; only what the last writer had not fenced is
   * lost. Pages may be up to 64 MiB long.
   *
   * With 0, a page is lost if the rank with its only copy ends. Has no effect on `hardware`.
   */
  readonly replicas?: 0 | 1
  /**
   * Have this rank's agent find out which pages are taken away from here again and again, and which of their bytes this
   * rank writes. `advice()` reports it. Default `false`, or `true` if AETHER_ADVISE is 1. Has no effect on `hardware`;
   * each rank sets its own.
   */
  readonly advise?: boolean
  /**
   * Take the memory at once (default), so that a later store cannot fail. With `false` pages are taken as they are
   * touched, which suits sparse regions. If memory has run out by then, the kernel kills a process.
   */
  readonly reserve?: boolean
  readonly signal?: AbortSignal
}

const names: OptionNames<RegionOptions> = {
  size: true,
  coherence: true,
  pageSize: true,
  placement: true,
  access: true,
  cacheSize: true,
  cacheEnabled: true,
  replicas: true,
  advise: true,
  reserve: true,
  signal: true,
}

/** {@link RegionOptions} checked, with `auto` resolved. */
export interface RegionRequest {
  readonly name: string
  /** Undefined: it must exist. */
  readonly size: number | undefined
  readonly coherence: CoherenceKind
  readonly pageSize: number
  readonly placement: Placement
  readonly access: RegionAccess
  /** The bound on pages of other ranks; 0: none is kept; undefined: no bound. */
  readonly cacheBytes: number | undefined
  readonly replicas: 0 | 1
  readonly advise: boolean
  readonly reserve: boolean
  /**
   * If given, only the first bytes are taken, whatever `reserve` says: the opener takes the rest before it touches it.
   */
  readonly headBytes?: number
  readonly signal: AbortSignal | undefined
}

/** Turns {@link RegionOptions.advise} on for every region that does not set it. */
export const ADVISE_VARIABLE = 'AETHER_ADVISE'

/** The longest name of a region, in bytes of UTF-8. */
const REGION_NAME_BYTES_MAX = 128

const PAGE_BYTES_MIN = 4096
/** A page with replicas travels through messages, as a whole. */
export const REPLICATED_PAGE_BYTES_MAX: number = 64 * 2 ** 20
/** Room for an access that spans two pages, while another is under way. */
const CACHE_PAGES_MIN = 4
const CONTROL_CHARACTER = /\p{Cc}/u

/** @throws ArgumentError naming the first invalid argument. */
export function parseRegionRequest(name: string, options: RegionOptions, automatic: CoherenceKind): RegionRequest {
  checkOptions('openRegion', options, names)
  checkSignal('options.signal', options.signal)
  const coherence = checkCoherence(options.coherence ?? 'auto')
  const pageSize = checkPageSize(options.pageSize ?? PAGE_BYTES_MIN)
  return {
    name: checkRegionName(name),
    size: options.size === undefined ? undefined : parseSize(options.size, 'size'),
    coherence: coherence === 'auto' ? automatic : coherence,
    pageSize,
    placement: checkPlacement(options.placement ?? 'block'),
    access: checkAccess(options.access ?? 'write'),
    cacheBytes: checkCache(options, pageSize),
    replicas: checkReplicas(options.replicas ?? 0, pageSize),
    advise: checkFlag(options.advise ?? process.env[ADVISE_VARIABLE] === '1', 'advise'),
    reserve: checkFlag(options.reserve ?? true, 'reserve'),
    signal: options.signal,
  }
}

/** @throws ArgumentError unless `name` is a string of 1 to 128 bytes without control characters. */
function checkRegionName(name: string): string {
  const lengthBytes = typeof name === 'string' ? Buffer.byteLength(name) : 0
  if (lengthBytes >= 1 && lengthBytes <= REGION_NAME_BYTES_MAX && !CONTROL_CHARACTER.test(name)) return name
  const rule = `a string of 1 to ${REGION_NAME_BYTES_MAX} bytes without control characters`
  throw mustBe('name', rule, name)
}

function checkPageSize(size: Size): number {
  const bytes = parseSize(size, 'pageSize')
  if (bytes % PAGE_BYTES_MIN === 0) return bytes
  throw new ArgumentError('pageSize', `pageSize must be a multiple of ${PAGE_BYTES_MIN} bytes, not ${bytes}`)
}

/** @throws ArgumentError */
export function checkAccess(access: unknown): RegionAccess {
  if (access === 'read' || access === 'write') return access
  throw mustBe('access', "'read' or 'write'", access)
}

function checkCache({ cacheSize, cacheEnabled = true }: RegionOptions, pageSize: number): number | undefined {
  if (!checkFlag(cacheEnabled, 'cacheEnabled')) {
    if (cacheSize === undefined) return 0
    throw new ArgumentError('cacheSize', 'cacheSize has no effect with cacheEnabled: false; leave out one of them')
  }
  if (cacheSize === undefined) return undefined
  const bytes = parseSize(cacheSize, 'cacheSize')
  if (bytes >= CACHE_PAGES_MIN * pageSize) return bytes
  const least = `${CACHE_PAGES_MIN} pages, ${CACHE_PAGES_MIN * pageSize} bytes`
  throw new ArgumentError('cacheSize', `cacheSize must hold at least ${least}, not ${bytes}`)
}

function checkReplicas(replicas: unknown, pageSize: number): 0 | 1 {
  if (replicas !== 0 && replicas !== 1) throw mustBe('replicas', '0 or 1', replicas)
  if (replicas === 0 || pageSize <= REPLICATED_PAGE_BYTES_MAX) return replicas
  const most = `${REPLICATED_PAGE_BYTES_MAX} bytes`
  throw new ArgumentError('pageSize', `pageSize may be at most ${most} with replicas: 1, not ${pageSize}`)
}

function checkFlag(value: boolean, argument: string): boolean {
  checkBoolean(argument, value)
  return value
}
