import { type Drawing, disc } from '../artifacts/drawing.ts';
import { toPng } from '../artifacts/drawing-png.ts';
import { closeDocument, heading, openDocument, paragraph } from '../artifacts/report/page.ts';
import type { Result } from '../result/envelope.ts';
import { MOCK } from './watermark.ts';

export interface MockArtifact {
  name: string;
  mediaType: string;
  section: string | null;
  bytes: Buffer;
}

/** Three rings of nothing: the shape of a bull's-eye without a value. */
const BULLSEYE: Drawing = {
  width: 400,
  height: 400,
  marks: [180, 120, 60].map((radius, ring) =>
    disc({ x: 200, y: 200 }, radius, ring % 2 === 0 ? '#d8dde3' : '#eef1f4'),
  ),
};

const OVERVIEW: Drawing = { width: 800, height: 300, marks: [] };

function report(result: Result): Promise<Buffer> {
  const page = openDocument(`${MOCK} echocardiography report`, new Date(result.generated_at));
  paragraph(page, `${MOCK} echocardiography report`, { size: 17, bold: true });
  for (const { text } of result.findings) paragraph(page, text, { bold: true });
  heading(page, 'Sections');
  for (const { title, summary } of result.sections) paragraph(page, `${title}. ${summary}`);
  return closeDocument(page, MOCK);
}

/** The pictures and the report of a mock echo result, under the names of the HTTP contract. */
export async function echoArtifacts(result: Result): Promise<MockArtifact[]> {
  return [
    {
      name: 'view-overview.png',
      mediaType: 'image/png',
      section: 'views',
      bytes: await toPng(OVERVIEW, 1),
    },
    {
      name: 'bullseye.png',
      mediaType: 'image/png',
      section: 'lv-strain',
      bytes: await toPng(BULLSEYE, 1),
    },
    {
      name: 'report.pdf',
      mediaType: 'application/pdf',
      section: null,
      bytes: await report(result),
    },
  ];
}
