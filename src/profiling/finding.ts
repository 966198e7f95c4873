import { mustBe } from '../native/index.ts'

/** A result beyond figures, carried by a profile. */
export interface Finding {
  /** The kind of finding: `dsm.advice`. */
  readonly kind: string
  /** What it is about, such as the name of a region. A profile has one finding for each kind and subject. */
  readonly subject: string
  /** For people. */
  readonly text: string
  /** For programs: a value that JSON can represent. */
  readonly details: unknown
}

/** Merge findings: a later one replaces an earlier one of the same kind and subject. */
export function mergedFindings(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify([finding.kind, finding.subject]), finding])).values()]
}

/** Check a finding. @throws ArgumentError for anything else. */
export function checkedFinding(json: Finding): Finding {
  const { kind, subject, text, details } = json ?? {}
  if (typeof kind === 'string' && typeof subject === 'string' && typeof text === 'string')
    return { kind, subject, text, details }
  throw mustBe('findings', 'an array of findings, which have the strings kind, subject and text, and details', json)
}
