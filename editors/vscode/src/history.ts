/** Instructions that were given, newest first. */

const MOST = 50;

export function remembered(history: readonly string[], instruction: string): string[] {
  return [instruction, ...history.filter((earlier) => earlier !== instruction)].slice(0, MOST);
}
