const OBJECTS: Readonly<Record<string, string>> = {
  'sr-tid1500': 'Structured report (measurements, TID 1500)',
  'sr-tid5000': 'Structured report (obstetric, TID 5000)',
  'sr-tid5200': 'Structured report (echo, TID 5200)',
  'sr-tid5300': 'Structured report (simplified echo, TID 5300)',
  'sr-echo': 'Structured report (echo)',
  seg: 'Segmentation',
  'key-objects': 'Key object selection',
  pdf: 'PDF report',
  report: 'PDF report',
  'secondary-capture': 'Secondary capture',
  'presentation-state': 'Presentation state',
  'fhir-bundle': 'FHIR report',
  'oru-r01': 'HL7 v2 report',
  result: 'Result (JSON)',
  withdrawal: 'Withdrawal',
  escalation: 'Mail: critical finding not acknowledged',
  overlays: 'Image annotations (JSON)',
  'growth-chart': 'Growth chart',
  bullseye: 'Segments of the left ventricle',
  'view-overview': 'Overview of the views',
};

/** Returns an object's readable name, or its key if it has none. */
export function objectText(object: string): string {
  if (object.startsWith('alert ')) return 'Mail about a critical finding';
  return OBJECTS[object] ?? object;
}

/**
 * Appends "signed", and the number of the amendment if there is one, to the name of an object. The
 * name of a draft stays unchanged.
 */
export function withRevision(name: string, signedRevision: number): string {
  if (signedRevision === 0) return name;
  return signedRevision === 1
    ? `${name}, signed`
    : `${name}, signed, amendment ${signedRevision - 1}`;
}

/** Returns the name of the object that a delivery sends. */
export const deliveredText = (one: { object: string; signedRevision: number }): string =>
  withRevision(objectText(one.object), one.signedRevision);

/** Returns the same name as the subject of a sentence, such as "FHIR report, signed, was sent". */
export const deliveredSubject = (one: { object: string; signedRevision: number }): string =>
  one.signedRevision === 0 ? deliveredText(one) : `${deliveredText(one)},`;

/**
 * Returns a destination's name as shown. The destination of an alert mail is `alert:` followed by
 * the name of its mailing list.
 */
export const destinationText = (destination: string): string =>
  destination.replace(/^alert:/, 'mail to ');
