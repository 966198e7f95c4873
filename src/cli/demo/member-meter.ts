import type { MemberReport } from './report-page.ts'

/** What a member has counted so far, of the things that a report gives as differences. */
export type MeterReading = Pick<MemberReport, 'faults' | 'faultMs' | 'pagesIn' | 'bytesIn' | 'bytesOut'>

/**
 * Reads what `hardware` costs: nothing is sent, and the only page faults are those of the kernel, when this process first touches a page that
 * another has filled.
 */
export function readKernelMeter(): MeterReading {
  const { minorPageFault, majorPageFault } = process.resourceUsage()
  return { faults: minorPageFault + majorPageFault, faultMs: 0, pagesIn: 0, bytesIn: 0, bytesOut: 0 }
}

export function differenceOf(later: MeterReading, earlier: MeterReading): MeterReading {
  return {
    faults: later.faults - earlier.faults,
    faultMs: later.faultMs - earlier.faultMs,
    pagesIn: later.pagesIn - earlier.pagesIn,
    bytesIn: later.bytesIn - earlier.bytesIn,
    bytesOut: later.bytesOut - earlier.bytesOut,
  }
}
