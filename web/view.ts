/** One tab of the page. */
export interface View {
  readonly id: string
  readonly title: string
  readonly element: HTMLElement
  /** Something new was told. Called only while it is shown. */
  update(): void
  /**
   * Once a picture of the screen, while it is shown. `clockMs` is the time of what is shown, which stands still where a
   * recording does; `nowMs` never does.
   */
  draw?(clockMs: number, nowMs: number): void
  /** A key that the page does not take itself. True where it meant something. */
  key?(event: KeyboardEvent): boolean
}
