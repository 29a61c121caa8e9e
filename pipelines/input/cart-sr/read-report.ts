import type { CartMeasurement } from '../../contract/study.ts';
import { UnreadableInput } from '../../contract/study.ts';
import { MANUFACTURER } from '../../dicom/implementation.ts';
import { STORAGE_CLASS, ULTRASOUND_IMAGES } from '../../dicom/sop-classes.ts';
import { uidOrNull } from '../../dicom/uid.ts';
import { type AcquisitionTime, studyTimeOf } from '../dicom/acquisition-time.ts';
import { STUDY_TIME } from '../dicom/attributes.ts';
import type { StudyFile } from '../study-file.ts';
import { withByteSource } from '../study-file.ts';
import { type ReportNode, readReportDataSet, toNode } from './content-tree.ts';
import { referencedClasses, reportValues } from './values.ts';
import { IMAGING_MEASUREMENT_REPORT, keyOf, REPORT_TITLES } from './vocabulary.ts';

/** SOP classes of the structured reports in which carts write measurements (PS3.4 B.5). */
const REPORT_CLASSES: ReadonlySet<string> = new Set([
  STORAGE_CLASS.enhancedSr,
  STORAGE_CLASS.comprehensiveSr,
  STORAGE_CLASS.comprehensive3dSr,
  STORAGE_CLASS.extensibleSr,
  STORAGE_CLASS.simplifiedAdultEchoSr,
]);

const ULTRASOUND_CLASSES: readonly string[] = [
  ...ULTRASOUND_IMAGES,
  STORAGE_CLASS.enhancedUltrasoundVolume,
];

function checkTitle(root: ReportNode): void {
  const title = root.name ? keyOf(root.name) : '';
  if (REPORT_TITLES[title]) return;
  if (title !== IMAGING_MEASUREMENT_REPORT) {
    throw new UnreadableInput('the structured report does not report ultrasound measurements');
  }
  const classes = referencedClasses(root);
  if (!ULTRASOUND_CLASSES.some((sopClass) => classes.has(sopClass))) {
    throw new UnreadableInput(
      'the measurements of the structured report are not of ultrasound images',
    );
  }
}

export interface ReadReport {
  file: string;
  values: CartMeasurement[];
  examined: AcquisitionTime | null;
  /**
   * True if this gateway wrote the report. Its values must never be treated as machine
   * measurements.
   */
  draft: boolean;
}

/**
 * Reads a structured report written by the ultrasound machine or by this gateway: TID 5000, 5100,
 * 5200, 5220, 5300, and TID 1500 if it refers to ultrasound images. Returns null for any other kind
 * of DICOM object.
 *
 * @throws UnreadableInput if the report is about something else or cannot be parsed.
 */
export async function readCartReport(file: StudyFile): Promise<ReadReport | null> {
  const dataSet = await withByteSource(file.path, (source) =>
    readReportDataSet(source, (sopClass) => REPORT_CLASSES.has(sopClass)),
  );
  if (!dataSet) return null;
  const root = toNode(dataSet);
  checkTitle(root);
  const { texts } = dataSet;
  const [date, time] = STUDY_TIME;
  return {
    file: file.name,
    values: reportValues(root, {
      file: file.name,
      sopInstanceUid: uidOrNull(texts.get('SOPInstanceUID') ?? ''),
    }),
    examined: studyTimeOf(
      new Map([
        [date, texts.get('StudyDate') ?? ''],
        [time, texts.get('StudyTime') ?? ''],
      ]),
    ),
    draft: texts.get('Manufacturer') === MANUFACTURER,
  };
}
