import type { DicomDestination } from '../../config/schema.ts';
import {
  STORAGE_CLASS,
  STORAGE_COMMITMENT,
  VERIFICATION,
} from '../../pipelines/dicom/sop-classes.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import type { CalledNode } from '../network/dial.ts';
import { Requestor } from '../network/requestor.ts';

/** The presentation context of a C-ECHO, which every node accepts. */
const VERIFICATION_CONTEXT = {
  id: 1,
  abstractSyntax: VERIFICATION,
  transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN],
};

/**
 * Sends a C-ECHO to a DICOM node.
 * @returns the status (0 is success) and the time from connecting to the response, in milliseconds.
 * @throws SonogateError `peer_unreachable`, `peer_rejected_association`,
 * `presentation_context_refused`.
 */
export async function echo(
  node: CalledNode,
  signal?: AbortSignal,
): Promise<{ status: number; milliseconds: number }> {
  const start = performance.now();
  const requestor = await Requestor.open(node, [VERIFICATION_CONTEXT], signal);
  const { status } = await requestor.echo();
  const milliseconds = performance.now() - start;
  await requestor.release();
  return { status, milliseconds };
}

/** SOP classes of each kind of object, in the order in which they are proposed. */
const CLASSES: Readonly<Record<DicomDestination['objects'][number], readonly string[]>> = {
  'sr-tid1500': [
    STORAGE_CLASS.comprehensive3dSr,
    STORAGE_CLASS.comprehensiveSr,
    STORAGE_CLASS.enhancedSr,
  ],
  'sr-tid5000': [STORAGE_CLASS.comprehensiveSr],
  'sr-echo': [STORAGE_CLASS.simplifiedAdultEchoSr, STORAGE_CLASS.comprehensiveSr],
  seg: [STORAGE_CLASS.segmentation],
  'key-objects': [STORAGE_CLASS.keyObjects],
  pdf: [STORAGE_CLASS.encapsulatedPdf],
  'secondary-capture': [STORAGE_CLASS.secondaryCapture],
  'presentation-state': [STORAGE_CLASS.presentationState],
};

interface NodeReport {
  /** Status of the C-ECHO; 0 is success. */
  status: number;
  milliseconds: number;
  /** The configured kinds of object for which the node accepts no presentation context. */
  refused: string[];
}

/**
 * Checks what deliveries to a node will need: C-ECHO, and the presentation contexts of every
 * configured kind of object. Nothing is stored.
 * @throws SonogateError if no association can be established.
 */
export async function checkNode(
  node: CalledNode,
  { objects, storageCommitment }: Pick<DicomDestination, 'objects' | 'storageCommitment'>,
): Promise<NodeReport> {
  const wanted = new Map(objects.map((object) => [object as string, CLASSES[object]]));
  if (storageCommitment) wanted.set('storage commitment', [STORAGE_COMMITMENT]);
  const syntaxes = [EXPLICIT_VR_LITTLE_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN];
  const kinds = [...new Set([...wanted.values()].flat())].flatMap((sopClassUid) =>
    syntaxes.map((transferSyntax) => ({ sopClassUid, transferSyntax })),
  );
  const contexts = kinds.map(({ sopClassUid, transferSyntax }, index) => ({
    id: VERIFICATION_CONTEXT.id + 2 * (index + 1),
    abstractSyntax: sopClassUid,
    transferSyntaxes: [transferSyntax],
  }));
  const start = performance.now();
  const requestor = await Requestor.open(node, [VERIFICATION_CONTEXT, ...contexts]);
  const { status } = await requestor.echo();
  const milliseconds = performance.now() - start;
  const accepted = new Set(
    kinds.filter((kind) => requestor.accepts(kind)).map((kind) => kind.sopClassUid),
  );
  await requestor.release();
  const refused = [...wanted].filter(([, classes]) => !classes.some((uid) => accepted.has(uid)));
  return { status, milliseconds, refused: refused.map(([name]) => name) };
}
