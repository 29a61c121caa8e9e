import dcmjs from 'dcmjs';
import type { OutgoingObject } from '../../../dimse/network/requestor.ts';
import { outgoingBuffer } from '../../../dimse/send/store-scu.ts';
import { simulateObstetricStudy } from '../../../models/phantom/study.ts';
import type { StudyContents } from '../../../models/phantom/study-shots.ts';
import { parseDicomNode } from '../cli/dicom.ts';
import { EXIT, type ExitStatus } from '../cli/exit-status.ts';
import { sendExam } from './cart-exam.ts';
import { CARTS, type Cart, type CartStyle } from './carts.ts';

/** First element of the cart's private block, block 10 (PS3.5 7.8.1). */
const BLOCK = '10';

/**
 * Returns a phantom image as the cart would have written it: its SOP class, its transfer syntax,
 * its manufacturer's name and private elements. The pixels stay unchanged.
 * @param file a still or cine of the phantom, encoded as the cart encodes (`cart.compression`).
 */
export function asCartObject(file: Buffer, cart: Cart): OutgoingObject {
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer;
  const image = dcmjs.data.DicomMessage.readFile(bytes);
  const cine = Number(image.dict['00280008']?.Value?.[0] ?? 1) > 1;
  const sopClass = { vr: 'UI', Value: [cine ? cart.classes.cine : cart.classes.still] };
  const { creator, group } = cart.privateData;
  Object.assign(image.dict, {
    '00080016': sopClass,
    '00080070': { vr: 'LO', Value: [`Simulated: ${creator}`] },
    [`${group}00${BLOCK}`]: { vr: 'LO', Value: [creator] },
    [`${group}${BLOCK}01`]: { vr: 'LO', Value: ['private text'] },
    [`${group}${BLOCK}02`]: { vr: 'OB', Value: [new Uint8Array([0, 255, 1, 254]).buffer] },
  });
  const written = new dcmjs.data.DicomDict({
    ...image.meta,
    '00020002': sopClass,
    '00020010': { vr: 'UI', Value: [cart.transferSyntaxes[0]] },
  });
  written.dict = image.dict;
  return outgoingBuffer(Buffer.from(written.write({ fragmentMultiframe: false })));
}

/**
 * Sends a phantom obstetric exam over the network as a cart of this style does. Succeeds when the
 * peer accepted all objects.
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
): Promise<ExitStatus> {
  const style: Cart = CARTS[options.style];
  const cart: Cart = { ...style, callingAeTitle: options.from ?? style.callingAeTitle };
  const { files, truth } = await simulateObstetricStudy({
    ...options,
    // Each exam is a new acquisition of the same fetus.
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
  return taken === files.length ? EXIT.success : EXIT.refused;
}

const tell = (line: string) => process.stdout.write(`${line}\n`);
const hexadecimal = (status: number) => `${status.toString(16).toUpperCase().padStart(4, '0')}H`;
