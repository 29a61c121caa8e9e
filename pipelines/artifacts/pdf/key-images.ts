import type { Measurement } from '../../result/envelope.ts';
import { isShown } from '../../result/render/statement.ts';
import { coloursOf, legendText, pictureOf } from '../previews/preview.ts';
import {
  HEADING_HEIGHT,
  heading,
  INK,
  MARGIN,
  MUTED,
  makeRoom,
  type Page,
  paragraph,
  tagged,
  WIDTH,
} from './page.ts';

/** The picture of a preview (preview.ts) as JPEG, with its values and the colours of their calipers. */
export interface KeyImage {
  bytes: Buffer;
  width: number;
  height: number;
  values: readonly { text: string; colour: string }[];
  alt: string;
}

/**
 * Size and quality of the key images in the PDF. JPEG keeps the file small. With three images in a
 * row, this width corresponds to about 400 pixels per inch.
 */
const KEY_IMAGE = { width: 900, quality: 88 } as const;

export interface ReportPreview {
  png: Buffer;
  measurements: readonly Measurement[];
}

export async function keyImage({ png, measurements: shown }: ReportPreview): Promise<KeyImage> {
  const picture = await pictureOf(png, shown);
  const { data, info } = await picture
    .resize({ width: KEY_IMAGE.width, withoutEnlargement: true })
    .jpeg({ quality: KEY_IMAGE.quality })
    .toBuffer({ resolveWithObject: true });
  const colours = coloursOf(shown);
  const values = shown.flatMap((one) =>
    isShown(one) ? [{ text: legendText(one), colour: colours.get(one) ?? MUTED }] : [],
  );
  const alt = `Image: ${values.map(({ text }) => text).join(', ')}`;
  return { bytes: data, width: info.width, height: info.height, values, alt };
}

/** Number of key images in a row. The first pages show one row of them. */
const IN_ROW = 3;

const IMAGE_WIDTH = (WIDTH - 8 * (IN_ROW - 1)) / IN_ROW;

const VALUE = { size: 6.5, line: 9 } as const;

const valuesHeight = ({ values }: KeyImage) => 2 + values.length * VALUE.line;

const pictureHeight = ({ height, width }: KeyImage, shown: number) => (height * shown) / width;

const rowHeightOf = (row: readonly KeyImage[], width: number): number =>
  Math.max(...row.map((image) => pictureHeight(image, width) + valuesHeight(image)));

function valuesBelow({ doc }: Page, { values }: KeyImage, x: number, top: number): void {
  values.forEach(({ text, colour }, index) => {
    const y = top + 2 + index * VALUE.line;
    doc
      .circle(x + 3, y + 4, 2.2)
      .lineWidth(0.4)
      .fillAndStroke(colour, MUTED);
    doc
      .font('regular')
      .fontSize(VALUE.size)
      .fillColor(INK)
      .text(text, x + 8, y, { lineBreak: false });
  });
}

function imageRows(page: Page, images: readonly KeyImage[], width = IMAGE_WIDTH): void {
  for (let index = 0; index < images.length; index += IN_ROW) {
    const row = images.slice(index, index + IN_ROW);
    const height = rowHeightOf(row, width) + 6;
    makeRoom(page, height);
    row.forEach((image, column) => {
      const x = MARGIN + column * (width + 8);
      tagged(
        page,
        'Figure',
        () => {
          page.doc.image(image.bytes, x, page.y, { width });
        },
        image.alt,
      );
      const top = page.y + pictureHeight(image, width);
      tagged(page, 'Caption', () => valuesBelow(page, image, x, top));
    });
    page.y += height;
  }
}

export const firstRowHeight = (images: readonly KeyImage[]): number =>
  rowHeightOf(images.slice(0, IN_ROW), IMAGE_WIDTH);

const SIGNATURE_HEIGHT = 46;
const SMALLEST_SHARE = 0.6;

/** Draws the first row of the key images. */
export function keyImages(page: Page, images: readonly KeyImage[]): void {
  const row = images.slice(0, IN_ROW);
  if (row.length === 0) return;
  const tallest = Math.max(...row.map((image) => pictureHeight(image, IMAGE_WIDTH)));
  const below = Math.max(...row.map(valuesHeight));
  // The images are made smaller if the signature then fits on the same page.
  const room = page.bottom - page.y - 2 * HEADING_HEIGHT - SIGNATURE_HEIGHT - below;
  const share = room < tallest && room >= SMALLEST_SHARE * tallest ? room / tallest : 1;
  heading(page, 'Key images', share * tallest + below);
  imageRows(page, row, share * IMAGE_WIDTH);
}

const KEY_IMAGE_NOTE =
  'Each image shows the values measured on it; of repeated values, the table gives the one that was used.';

/** Draws the images that follow the first row, for the appendix. */
export function furtherImages(page: Page, images: readonly KeyImage[]): void {
  const further = images.slice(IN_ROW);
  if (further.length === 0) return;
  heading(page, 'Further images', rowHeightOf(further.slice(0, IN_ROW), IMAGE_WIDTH) + 14);
  paragraph(page, KEY_IMAGE_NOTE, { size: 7.5, colour: MUTED });
  imageRows(page, further);
}
