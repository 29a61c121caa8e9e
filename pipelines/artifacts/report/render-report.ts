import sharp from 'sharp';
import type { Paper } from '../../../config/schema.ts';
import { inParallel } from '../../input/in-parallel.ts';
import { earlierValues } from '../../obstetric/growth-since.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { growthPanel } from '../growth-chart.ts';
import { type GrowthCurve, measuredOnCurve } from '../growth-curve.ts';
import { PICTURES_AT_ONCE } from '../raster.ts';
import type { Subject } from '../subject.ts';
import { buildReportPdf, type KeyImage } from './report-pdf.ts';

/**
 * Key images in the PDF are photographs beside vectors: JPEG keeps the file small, and two beside each
 * other need no more pixels at 250 to the inch.
 */
const KEY_IMAGE = { width: 900, quality: 88 } as const;

/** The bytes of a preview PNG and what is measured on it. */
export interface ReportPreview {
  png: Buffer;
  measurements: readonly Measurement[];
}

async function keyImage({ png }: ReportPreview): Promise<KeyImage> {
  const { data, info } = await sharp(png)
    .resize({ width: KEY_IMAGE.width, withoutEnlargement: true })
    .jpeg({ quality: KEY_IMAGE.quality })
    .toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}

/** The report of a result with its growth panels and the previews that show something new. */
export async function renderReport(
  result: Result,
  subject: Subject,
  previews: readonly ReportPreview[],
  curves: readonly GrowthCurve[],
  paper?: Paper,
): Promise<Buffer> {
  const gaDays = subject.dating?.gaDays;
  const shown = curves.filter((curve) => measuredOnCurve(curve, result.measurements).length > 0);
  const panels =
    gaDays === undefined
      ? []
      : shown.map((curve) =>
          growthPanel(curve, result.measurements, gaDays, earlierValues(result)),
        );
  const keyImages = await inParallel(previews, PICTURES_AT_ONCE, keyImage);
  return buildReportPdf({ result, subject, panels, keyImages, ...(paper && { paper }) });
}
