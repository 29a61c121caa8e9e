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

const headOf = (columns: readonly Column[]): Cell[] =>
  columns.map(({ title }) => ({ text: title, colour: MUTED, bold: true }));

/** Points that the beginning of a table takes: its head, the title of a group and the first row. */
export function startHeight(
  page: Page,
  columns: readonly Column[],
  first: readonly Cell[] = [],
): number {
  const rows = rowHeight(page, columns, headOf(columns)) + rowHeight(page, columns, first);
  return rows + titleHeight(page, columns);
}

const titleHeight = (page: Page, columns: readonly Column[]) =>
  rowHeight(page, columns, [{ text: 'X', bold: true }]);

/** Rows under a title of their own; an empty title is not drawn. */
export interface RowGroup {
  title: string;
  rows: readonly (readonly Cell[])[];
}

/** A table of one group without a title. */
export function table(
  page: Page,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): void {
  groupedTable(page, columns, [{ title: '', rows }]);
}

/**
 * A table whose rows are never cut by a page end and whose head stands again on each page; the title
 * of a group stays with its first row.
 */
export function groupedTable(
  page: Page,
  columns: readonly Column[],
  groups: readonly RowGroup[],
): void {
  const head = headOf(columns);
  const drawHead = () => {
    const height = rowHeight(page, columns, head);
    drawRow(page, columns, head);
    page.y += height;
    rule(page);
  };
  const first = groups.find(({ rows }) => rows.length > 0)?.rows[0];
  if (!first) return;
  makeRoom(page, startHeight(page, columns, first));
  drawHead();
  const reserve = (height: number) => {
    const before = page.y;
    makeRoom(page, height);
    if (page.y < before) drawHead();
  };
  for (const { title, rows } of groups) {
    for (const [index, cells] of rows.entries()) {
      const height = rowHeight(page, columns, cells);
      const titled = index === 0 && title !== '';
      reserve(height + (titled ? titleHeight(page, columns) : 0));
      if (titled) {
        const [wide] = columns;
        const span = columns.reduce((sum, { width }) => sum + width, 0);
        if (wide) drawRow(page, [{ ...wide, width: span }], [{ text: title, bold: true }]);
        page.y += titleHeight(page, columns);
      }
      drawRow(page, columns, cells);
      page.y += height;
      rule(page);
    }
  }
  page.y += 4;
}
