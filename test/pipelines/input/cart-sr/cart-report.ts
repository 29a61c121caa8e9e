import type { NaturalDataset } from 'dcmjs';
import {
  type Code,
  type ContentItem,
  code,
  container,
  image,
  num,
  type Relationship,
  root,
  text,
} from '../../../../pipelines/artifacts/sr/content-item.ts';
import { encode } from '../../../../pipelines/artifacts/sr/encode.ts';

/** Test reports as written by carts: TID 5000, TID 5200 and TID 5300 of a phantom. */

export const dcm = (value: string, meaning = value): Code => ({
  scheme: 'DCM',
  code: value,
  meaning,
});
export const ln = (value: string, meaning = value): Code => ({
  scheme: 'LN',
  code: value,
  meaning,
});
export const sct = (value: string, meaning = value): Code => ({
  scheme: 'SCT',
  code: value,
  meaning,
});
export const srt = (value: string, meaning = value): Code => ({
  scheme: 'SRT',
  code: value,
  meaning,
});
const ucum = (unit: string): Code => ({ scheme: 'UCUM', code: unit, meaning: unit });

export const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';
export const COMPREHENSIVE = '1.2.840.10008.5.1.4.1.1.88.33';
export const SIMPLIFIED_ECHO = '1.2.840.10008.5.1.4.1.1.88.72';

/** Returns a numeric value that its container refers to with the relationship CONTAINS. */
export function value(
  name: Code,
  number: number,
  unit: string,
  items: readonly ContentItem[] = [],
): ContentItem {
  return num('CONTAINS', name, { value: number, unit: ucum(unit) }, items);
}

export const modifier = (name: Code, is: Code, items: readonly ContentItem[] = []) =>
  code('HAS CONCEPT MOD', name, is, items);
export const derived = (is: Code) => modifier(dcm('121401', 'Derivation'), is);
export const selected = (is: Code) => code('HAS PROPERTIES', dcm('121404', 'Selection Status'), is);
export const equation = (is: Code) => code('INFERRED FROM', dcm('121420', 'Equation'), is);

export const measuredOn = (sopInstanceUid: string, frame: number | null = null) =>
  image('INFERRED FROM', dcm('121112', 'Source of Measurement'), {
    sopClassUid: US_IMAGE,
    sopInstanceUid,
    frame,
  });

/** Returns the content items that identify a fetus as the subject (TID 1008). */
export function fetus(id: string): ContentItem[] {
  return [
    code('HAS OBS CONTEXT', dcm('121024', 'Subject Class'), dcm('121026', 'Fetus')),
    text('HAS OBS CONTEXT', dcm('121030', 'Subject ID'), id),
  ];
}

/** Returns a biometry group (TID 5008). */
export const biometryGroup = (...values: readonly ContentItem[]) =>
  container(dcm('125005', 'Biometry Group'), values, '5008');

/** Returns the fetal biometry section (TID 5005). */
export const fetalBiometry = (...items: readonly ContentItem[]) =>
  container(dcm('125002', 'Fetal Biometry'), items, '5005');

/** Returns a TID 5000 report with these sections. */
export function obstetricReport(...sections: readonly ContentItem[]): ContentItem {
  return root(dcm('125000', 'OB-GYN Ultrasound Procedure Report'), '5000', [
    text('HAS OBS CONTEXT', dcm('121013', 'Device Observer Name'), 'PHANTOM-1'),
    ...sections,
  ]);
}

/** Returns the findings of one site: one measurement group for one image mode (TID 5202). */
export function echoFindings(
  site: Code,
  mode: Code,
  values: readonly ContentItem[],
  names: { site: Code; mode: Code } = {
    site: sct('363698007', 'Finding Site'),
    mode: sct('399264008', 'Image Mode'),
  },
): ContentItem {
  return container(dcm('121070', 'Findings'), [
    modifier(names.site, site),
    container(dcm('125007', 'Measurement Group'), [modifier(names.mode, mode), ...values]),
  ]);
}

/** Returns a TID 5200 report. The sections may also be containers of TID 5300. */
export function echoReport(...sections: readonly ContentItem[]): ContentItem {
  return root(dcm('125200', 'Adult Echocardiography Procedure Report'), '5200', sections);
}

/** Returns a TID 1500 report with one measurement group on an image of this class. */
export function imagingReport(sopClassUid: string, ...values: readonly ContentItem[]): ContentItem {
  const on = image('CONTAINS', dcm('260753009', 'Source'), {
    sopClassUid,
    sopInstanceUid: '2.25.7',
    frame: null,
  });
  return root(dcm('126000', 'Imaging Measurement Report'), '1500', [
    container(dcm('126010', 'Imaging Measurements'), [
      container(dcm('125007', 'Measurement Group'), [on, ...values]),
    ]),
  ]);
}

export const PATIENT = { name: 'Beispiel^Zoe', id: 'PID-4711' } as const;

/**
 * Encodes the report as a cart would store it, with a patient's name in the header and in the text.
 */
export function cartFile(tree: ContentItem, header: NaturalDataset = {}): Buffer {
  return encode(
    {
      SOPClassUID: COMPREHENSIVE,
      SOPInstanceUID: '2.25.99',
      PatientName: PATIENT.name,
      PatientID: PATIENT.id,
      Manufacturer: 'Phantom',
      Modality: 'SR',
      StudyInstanceUID: '2.25.1',
      SeriesInstanceUID: '2.25.2',
      SeriesNumber: '1',
      InstanceNumber: '1',
      ContentDate: '20260101',
      ContentTime: '120000',
      CompletionFlag: 'COMPLETE',
      VerificationFlag: 'UNVERIFIED',
      ...header,
    },
    tree,
  );
}

export type { ContentItem, Relationship };
