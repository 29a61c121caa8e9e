import { MANUFACTURER } from '../../artifacts/modules.ts';
import type { CartMeasurement } from '../../contract/cart.ts';
import { UnreadableInput } from '../../contract/study.ts';
import { uidOrNull } from '../../dicom/uid.ts';
import { type AcquisitionTime, studyTimeOf } from '../dicom/acquisition-time.ts';
import { STUDY_TIME } from '../dicom/attributes.ts';
import type { StudyFile } from '../study-file.ts';
import { withByteSource } from '../study-file.ts';
import { type ReportNode, readReportDataSet, toNode } from './content-tree.ts';
import { referencedClasses, reportValues } from './values.ts';
import { IMAGING_MEASUREMENT_REPORT, keyOf, REPORT_TITLES } from './vocabulary.ts';

/** Enhanced, Comprehensive, Comprehensive 3D, Extensible and Simplified Adult Echo SR (PS3.4 B.5). */
const REPORT_CLASSES: ReadonlySet<string> = new Set([
  '1.2.840.10008.5.1.4.1.1.88.22',
  '1.2.840.10008.5.1.4.1.1.88.33',
  '1.2.840.10008.5.1.4.1.1.88.34',
  '1.2.840.10008.5.1.4.1.1.88.35',
  '1.2.840.10008.5.1.4.1.1.88.72',
]);

/** Ultrasound and ultrasound multi-frame, current and retired, and Enhanced US Volume. */
const ULTRASOUND_CLASSES: readonly string[] = [
  '1.2.840.10008.5.1.4.1.1.3',
  '1.2.840.10008.5.1.4.1.1.3.1',
  '1.2.840.10008.5.1.4.1.1.6',
  '1.2.840.10008.5.1.4.1.1.6.1',
  '1.2.840.10008.5.1.4.1.1.6.2',
];

function checkTitle(root: ReportNode): void {
  const title = root.name ? keyOf(root.name) : '';
  if (REPORT_TITLES[title]) return;
  if (title !== IMAGING_MEASUREMENT_REPORT) {
    throw new UnreadableInput('the structured report is not one of ultrasound measurements');
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
  /** When the examination was that it reports. */
  examined: AcquisitionTime | null;
  /** Written by this gateway: it must never come back as a measurement of the machine. */
  draft: boolean;
}

/**
 * A structured report of the ultrasound machine, or of ours: TID 5000, 5100, 5200, 5220, 5300, and
 * TID 1500 where it refers to ultrasound images. Null for a DICOM object that is no such document.
 * Throws a Refusal for a report of something else and for one that cannot be followed.
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
