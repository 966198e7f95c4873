/**
 * A protocol that does not treat all nodes and pages alike: states that differ in names only may not be taken for one.
 */
export class Asymmetry extends Error {
  override readonly name = 'Asymmetry'
}
