import { INK, MARGIN, MUTED, makeRoom, type Page, rule, textHeight } from './page.ts';

export interface Column {
  title: string;
  width: number;
  align?: 'left' | 'right';
}

export interface Cell {
  text: string;
  colour?: string;
  bold?: boolean;
}

const SIZE = 8.5;
const PADDING = 3;
const GAP = 6;

function rowHeight(page: Page, columns: readonly Column[], cells: readonly Cell[]): number {
  const heights = columns.map(({ width }, index) => {
    const { text = '', bold } = cells[index] ?? {};
    return textHeight(page, text, { size: SIZE, bold, width: width - GAP });
  });
  return Math.max(...heights) + 2 * PADDING;
}

function drawRow(page: Page, columns: readonly Column[], cells: readonly Cell[]): void {
  let x = MARGIN;
  columns.forEach(({ width, align = 'left' }, index) => {
    const { text = '', colour = INK, bold = false } = cells[index] ?? {};
    page.doc
      .font(bold ? 'bold' : 'regular')
      .fontSize(SIZE)
      .fillColor(colour);
    page.doc.text(text, x, page.y + PADDING, { width: width - GAP, align });
    x += width;
  });
}

/** A table whose rows are never cut by a page end and whose head stands again on each page. */
export function table(
  page: Page,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): void {
  const head = columns.map(({ title }) => ({ text: title, colour: MUTED, bold: true }));
  const drawHead = () => {
    const height = rowHeight(page, columns, head);
    drawRow(page, columns, head);
    page.y += height;
    rule(page);
  };
  const [first] = rows;
  if (!first) return;
  makeRoom(page, rowHeight(page, columns, head) + rowHeight(page, columns, first));
  drawHead();
  for (const cells of rows) {
    const height = rowHeight(page, columns, cells);
    const before = page.y;
    makeRoom(page, height);
    if (page.y < before) drawHead();
    drawRow(page, columns, cells);
    page.y += height;
    rule(page);
  }
  page.y += 4;
}
