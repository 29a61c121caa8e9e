import { simulateObstetricStudy } from '../../../models/phantom/study.ts';
import type { StudyContents } from '../../../models/phantom/study-shots.ts';
import { parseDicomNode } from '../dicom-node.ts';
import { sendExam } from './cart-exam.ts';
import { asCartObject } from './cart-objects.ts';
import { CARTS, type Cart, type CartStyle } from './carts.ts';

/**
 * A phantom obstetric exam over the network as a cart of the style sends it.
 * @returns the exit status: 0 when the peer took every object.
 */
export async function simulateCart(
  node: string,
  options: {
    style: CartStyle;
    gaDays: number;
    seed: number;
    contents: StudyContents;
    pauseSeconds: number;
    from?: string;
  },
): Promise<number> {
  const style: Cart = CARTS[options.style];
  const cart: Cart = { ...style, callingAeTitle: options.from ?? style.callingAeTitle };
  const { files, truth } = await simulateObstetricStudy({
    ...options,
    // Each exam is another one, of the same fetus.
    acquisition: new Date().toISOString(),
    encoding: { compression: cart.compression, colour: 'rgb' },
  });
  tell(`${cart.callingAeTitle}: ${cart.habit}`);
  tell(`Study ${truth.studyInstanceUid}, ${files.length} objects of a phantom`);
  const outcome = await sendExam(parseDicomNode(node), cart, {
    objects: files.map(({ bytes }) => asCartObject(bytes, cart)),
    studyInstanceUid: truth.studyInstanceUid,
    pauseMilliseconds: options.pauseSeconds * 1000,
    onStored: (object, status) => tell(`${hexadecimal(status)} ${object.sopInstanceUid}`),
  });
  const taken = outcome.stored.filter((status) => status === 0).length;
  tell(`${taken} stored, ${files.length - taken} refused, ended by ${cart.end}`);
  if (outcome.performedProcedure) {
    tell(`MPPS N-CREATE and N-SET: ${outcome.performedProcedure.map(hexadecimal).join(', ')}`);
  }
  if (outcome.committed !== null) tell(`storage commitment: ${outcome.committed} objects`);
  return taken === files.length ? 0 : 1;
}

const tell = (line: string) => process.stdout.write(`${line}\n`);
const hexadecimal = (status: number) => `${status.toString(16).toUpperCase().padStart(4, '0')}H`;
