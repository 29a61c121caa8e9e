import { type CalledNode, Requestor } from './network/requestor.ts';
import { IMPLICIT_LITTLE_ENDIAN, VERIFICATION } from './sop-classes.ts';

/** The presentation context of a C-ECHO; every node takes it. */
export const VERIFICATION_CONTEXT = {
  id: 1,
  abstractSyntax: VERIFICATION,
  transferSyntaxes: [IMPLICIT_LITTLE_ENDIAN],
};

/**
 * C-ECHO to a DICOM node.
 * @returns status (0 is success) and how long it took from connecting to the answer, in milliseconds.
 * @throws SonogateError `peer_unreachable`, `peer_rejected_association`,
 * `presentation_context_refused`.
 */
export async function echo(node: CalledNode): Promise<{ status: number; milliseconds: number }> {
  const start = performance.now();
  const requestor = await Requestor.open(node, [VERIFICATION_CONTEXT]);
  const { status } = await requestor.echo();
  const milliseconds = performance.now() - start;
  await requestor.release();
  return { status, milliseconds };
}
