import { join } from 'node:path'
import type { Addon } from './addon.ts'
import { AetherError } from './errors.ts'
import { loadAddon } from './loader.ts'
import { packageRoot } from './package-root.ts'
import { tellUnknownSettings } from './settings.ts'

/**
 * The addon of this environment. It is loaded on first use, so that importing the package works everywhere. After that
 * each function is a plain property, and calling it costs no more than a Node-API call.
 */
export const native: Addon = {} as Addon

let loaded: Addon | undefined

const names: ReadonlyArray<keyof Addon> = [
  'createMemory',
  'resizeMemory',
  'reserveMemory',
  'releaseMemory',
  'populateHuge',
  'describeMemory',
  'duplicateDescriptor',
  'closeDescriptor',
  'mapMemory',
  'unmapMemory',
  'addressOf',
  'mapView',
  'unmapView',
  'makeViewReadOnly',
  'openUserfault',
  'registerUserfault',
  'unregisterUserfault',
  'installPages',
  'protectPages',
  'zapPages',
  'wakePages',
  'openFaultLane',
  'closeFaultLane',
  'takeFaults',
  'pollAnswering',
  'timeFaults',
  'poll',
  'createPipe',
  'createFifo',
  'ringPipe',
  'drainPipe',
  'futexWait',
  'futexWaitAny',
  'futexWake',
  'listenStream',
  'streamAddress',
  'createStreamSet',
  'addStream',
  'changeStream',
  'removeStream',
  'connectStream',
  'pollStreams',
  'sendStream',
  'sendStreams',
  'keepStreamAlive',
  'endStream',
  'answerLooks',
  'packRequests',
  'setStrings',
  'addStrings',
  'countStrings',
  'packStrings',
  'openProcess',
  'openThread',
  'lifeThread',
  'killProcess',
  'createWatcher',
  'readProcess',
  'writeProcess',
  'allowProcessAccess',
  'threadId',
  'setAffinity',
  'getAffinity',
  'allowedProcessors',
  'setSlice',
  'setTimerSlack',
  'threadTurns',
  'monotonicNs',
  'processorNs',
  'threadPreemptions',
  'lockFile',
  'unlockFile',
  'guardEnvironment',
  'unguardEnvironment',
  'throwSystemError',
  'exitNow',
  'arrayKernels',
  'runArrayProgram',
  'reduceArray',
  'philoxBlocks',
  'normalNumbers',
  'sortArray',
  'selectFromArray',
  'multiplyMatrices',
  'transformLine',
  'takeArrayMemory',
  'keepArrayMemory',
  'trimArrayMemory',
]

/** An addon that an older checkout has built lacks functions. It is refused here, not where the first is called. */
function loadWhole(): Addon {
  const addon = loadAddon()
  const missing = names.filter((name) => typeof addon[name] !== 'function')
  if (missing.length === 0) return addon
  throw new AetherError(
    'ERR_AETHER_NATIVE_MISMATCH',
    `the addon is of another version than the package: it has no ${missing.join(', ')}; build it again: node ${join(packageRoot(), 'native', 'build.mjs')}`,
  )
}

function settle(): Addon {
  if (loaded === undefined) tellUnknownSettings()
  loaded ??= loadWhole()
  for (const name of names)
    Object.defineProperty(native, name, {
      value: loaded[name],
      writable: false,
      enumerable: true,
    })
  return loaded
}

for (const name of names) {
  Object.defineProperty(native, name, {
    get: () => settle()[name],
    configurable: true,
    enumerable: true,
  })
}
