/** One tab of the page. */
export interface View {
  readonly id: string
  readonly title: string
  readonly element: HTMLElement
  /** Called when there is news, only while the tab is shown. */
  update(): void
  /**
   * Called in every animation frame while the tab is shown. `clockMs` is the time of the data, which stops if a
   * recording is paused. `nowMs` never stops.
   */
  draw?(clockMs: number, nowMs: number): void
  /** Handle a key that the page does not handle itself. Returns true if it was handled. */
  key?(event: KeyboardEvent): boolean
}
