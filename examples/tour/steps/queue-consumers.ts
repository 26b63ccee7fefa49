import { QueueServiceClient } from "@azure/storage-queue";
import { refusalOf, type Step } from "../tour.ts";

const visibilitySeconds = 60;

export const queueConsumers: Step = {
  title: "Two queue consumers, and a message that becomes visible again",
  async run({ connectionString, name, say, check, pass }) {
    const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient(name);
    await queue.create();
    await queue.sendMessage("pay the rent");
    const receive = async () => {
      const options = { numberOfMessages: 1, visibilityTimeout: visibilitySeconds };
      return (await queue.receiveMessages(options)).receivedMessageItems[0];
    };
    const first = await receive();
    if (first === undefined) throw new Error("no message received");
    check("the first consumer gets it", first.messageText, "pay the rent");
    check("the second one finds nothing", (await receive()) === undefined, true);
    say("The first consumer has crashed. The message is visible again after its timeout.");
    pass(visibilitySeconds);
    const second = await receive();
    if (second === undefined) throw new Error("the message did not become visible again");
    check("the second consumer gets it", second.messageText, "pay the rent");
    check("for the second time", second.dequeueCount, 2);
    say("The first consumer was only slow. Its receipt is old, so it cannot delete the message.");
    const late = queue.deleteMessage(first.messageId, first.popReceipt);
    check("the delete is rejected", await refusalOf(late), "400 PopReceiptMismatch");
    const { messageId } = second;
    say("Update Message keeps it invisible for longer, and replaces the receipt.");
    const update = await queue.updateMessage(messageId, second.popReceipt, "pay it twice", 60);
    const used = queue.deleteMessage(messageId, second.popReceipt);
    check("the receipt before", await refusalOf(used), "400 PopReceiptMismatch");
    const popReceipt = update.popReceipt ?? "";
    const deleted = await queue.deleteMessage(messageId, popReceipt);
    check("the holder deletes it", deleted.errorCode === undefined, true);
  },
};
