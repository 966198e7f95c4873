import { native, SystemError } from '../../src/native/index.ts'

/** Why tests that need descriptors of threads are skipped here; false if they are not. */
export const threadDescriptorsMissing: string | false = whyMissing()

function whyMissing(): string | false {
  try {
    native.closeDescriptor(native.openThread(native.lifeThread()))
    return false
  } catch (error) {
    if (!(error instanceof SystemError)) throw error
    return 'this kernel has no descriptors of threads, which came with Linux 6.9'
  }
}
