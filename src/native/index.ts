/**
 * The addon's functions with their types, and the base class of every error.
 *
 * @example
 * ```ts
 * const descriptor = native.createMemory('example', 4096, 0)
 * const words = new Int32Array(native.mapMemory(descriptor, 0, 4096, 0))
 * Atomics.add(words, 0, 1) // any process that maps the same object sees it
 * ```
 */
export {
  AddNumber,
  type Addon,
  type ArrayMemories,
  FAULT_NUMBERS,
  FaultAnswer,
  FaultFlag,
  FutexResult,
  LookNumber,
  MapFlag,
  type MemoryDescription,
  PackedNumber,
  PackNumber,
  PollFlag,
  SEND_NUMBERS,
  SetNumber,
  STREAM_EVENT_NUMBERS,
  StreamEvent,
  StreamInterest,
  type UserfaultDescription,
  type Watcher,
} from './addon.ts'
export {
  checkBigint,
  checkBoolean,
  checkBytes,
  checkFunction,
  checkInstance,
  checkIterable,
  checkMilliseconds,
  checkText,
  checkWhole,
  mustBe,
  TIMER_MS_MAX,
} from './arguments/checks.ts'
export { nearestWord } from './arguments/nearest-word.ts'
export {
  checkAbort,
  checkIteration,
  checkOptions,
  checkSignal,
  checkSignalKind,
  type OptionNames,
} from './arguments/options.ts'
export { shown } from './arguments/shown.ts'
export {
  AccessError,
  AetherError,
  type AetherErrorCode,
  ArgumentError,
  ClosedError,
  DefectError,
  SystemError,
  TimeoutError,
  UnsupportedError,
} from './errors.ts'
export { NativeMissingError } from './loader.ts'
export { native } from './native.ts'
export { packageRoot, packageVersion } from './package-root.ts'
export { PackageMissingError, peerPackage } from './peer-package.ts'
export { isEnding, processStatus } from './process-status.ts'
export { rdmacmAddon } from './rdmacm.ts'
export {
  EVENT_DATA_BYTES,
  EVENT_WORDS,
  EventWord,
  PARAMETER_WORDS,
  ParameterWord,
  type RdmacmAddon,
  type RdmacmAddress,
  type RdmacmFacts,
  type RdmacmToken,
} from './rdmacm-addon.ts'
export { systemFailure, withSystemFailures } from './system-failure.ts'
export { messageOfThrown, textOfThrown } from './thrown.ts'
export { verbsAddon } from './verbs.ts'
export {
  ASYNC_EVENT_WORDS,
  ATTRIBUTE_WORDS,
  AttributeWord,
  type OpenedVerbsDevice,
  PAIR_WORDS,
  PairWord,
  POST_ERRNO_UNIT,
  VECTOR_WORDS,
  VectorWord,
  type VerbsAddon,
  type VerbsDeviceFacts,
  type VerbsGidEntry,
  type VerbsMemoryFacts,
  type VerbsPairFacts,
  type VerbsPortFacts,
  type VerbsToken,
} from './verbs-addon.ts'
