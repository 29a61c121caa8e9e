import { readFile } from 'node:fs/promises';
import type { Paper } from '../../../config/schema.ts';
import type { Result } from '../../result/envelope.ts';
import { INTERGROWTH_CURVES } from '../intergrowth-curves.ts';
import { keyOverlays, overlaysOf } from '../overlays.ts';
import type { Subject } from '../subject.ts';
import { type ReportPreview, renderReport } from './render-report.ts';

/**
 * The report of a stored result for another subject: a delivery's own copy with the identity of the
 * source images. The previews are those stored with the result; one that is gone is left out.
 * @param artifactPath path of a stored artifact by its name, null when there is none (any more).
 */
export async function rebuildReportPdf(
  result: Result,
  subject: Subject,
  artifactPath: (name: string) => Promise<string | null>,
  paper?: Paper,
): Promise<Buffer> {
  const previews: ReportPreview[] = [];
  for (const { name, measurements } of keyOverlays(overlaysOf(result.measurements))) {
    const path = await artifactPath(name);
    if (path) previews.push({ png: await readFile(path), measurements });
  }
  return renderReport(result, subject, previews, INTERGROWTH_CURVES, paper);
}
