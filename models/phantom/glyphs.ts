/** A 5 x 7 dot font for the machine's own text: each row five bits, most significant left. */
const GLYPHS: Record<string, readonly number[]> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 2, 4, 8, 31],
  '3': [31, 2, 4, 2, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
  A: [14, 17, 17, 31, 17, 17, 17],
  B: [30, 17, 17, 30, 17, 17, 30],
  C: [14, 17, 16, 16, 16, 17, 14],
  D: [28, 18, 17, 17, 17, 18, 28],
  E: [31, 16, 16, 30, 16, 16, 31],
  F: [31, 16, 16, 30, 16, 16, 16],
  G: [14, 17, 16, 23, 17, 17, 15],
  H: [17, 17, 17, 31, 17, 17, 17],
  I: [14, 4, 4, 4, 4, 4, 14],
  L: [16, 16, 16, 16, 16, 16, 31],
  M: [17, 27, 21, 21, 17, 17, 17],
  N: [17, 25, 21, 19, 17, 17, 17],
  O: [14, 17, 17, 17, 17, 17, 14],
  P: [30, 17, 17, 30, 16, 16, 16],
  R: [30, 17, 17, 30, 20, 18, 17],
  S: [15, 16, 16, 14, 1, 1, 30],
  T: [31, 4, 4, 4, 4, 4, 4],
  U: [17, 17, 17, 17, 17, 17, 14],
  Z: [31, 1, 2, 4, 8, 16, 31],
  '/': [1, 1, 2, 4, 8, 16, 16],
  '-': [0, 0, 0, 31, 0, 0, 0],
  '.': [0, 0, 0, 0, 0, 12, 12],
  '%': [25, 26, 2, 4, 8, 11, 19],
};

export const GLYPH = { width: 5, height: 7, advance: 6, lineHeight: 10 } as const;

/** Calls `dot(column, row)` for every lit dot of one line of text; unknown characters are blank. */
export function drawText(text: string, dot: (column: number, row: number) => void): void {
  for (let i = 0; i < text.length; i++) {
    const rows = GLYPHS[text.charAt(i)];
    if (rows === undefined) continue;
    for (let row = 0; row < GLYPH.height; row++) {
      for (let column = 0; column < GLYPH.width; column++) {
        const lit = ((rows[row] ?? 0) >> (GLYPH.width - 1 - column)) & 1;
        if (lit === 1) dot(i * GLYPH.advance + column, row);
      }
    }
  }
}
