// Conversations of the recorded meetings: `U` is ours, `T` is theirs, `S` a second person of theirs.

export interface Conversation {
  readonly title: string;
  readonly lines: readonly string[];
}

const conversation = (title: string, lines: string): Conversation => ({
  title,
  lines: lines.trim().split('\n'),
});

/** What was said; `{first}`, `{company}`, `{city}`, `{sites}`, `{offer}` and `{owner}` are filled in from the deal. */
export const CONVERSATIONS: readonly Conversation[] = [
  conversation(
    'Discovery call',
    `
U: Good morning {first}, can you hear me well?
T: Perfectly. Give me a second, my colleague is joining as well.
S: Hello, I am here. Sorry, the other call ran over.
U: No problem at all. Shall I record this so that nobody has to take minutes?
T: Yes please.
U: Thank you. You wrote that you look after {sites}. How do you keep an eye on them today?
T: Honestly? With a clipboard. Somebody walks around twice a day and writes the readings down.
S: And at weekends nobody does, which is exactly when things go wrong.
U: Has something gone wrong?
T: In July a compressor failed on a Friday evening. We noticed on Monday. I would rather not say what that cost.
U: I hear that story more often than you would think. What would have helped?
T: A message on my phone on Friday evening, that is all.
S: And something that I can show to the auditor. The clipboard does not impress him any more.
U: Both are possible. How is the mobile coverage at your sites?
S: Good above ground. In the basement you can forget it.
U: Then we put a gateway at the top of the stairs. One per building is usually enough.
T: And what are we talking about in terms of money?
U: For {sites} I would have to count the rooms first. Could I come to {city} and walk through with you?
T: The week after next would suit me.
U: Then I will send two dates, and a summary of today. Anything that I have forgotten?
S: Ask about the batteries.
U: Three to five years, less in a freezer. The system tells you half a year before they run out.
T: Good. Then we will see each other in {city}.
U: I look forward to it. Thank you both.
`,
  ),
  conversation(
    'Walk through the offer',
    `
U: Hello {first}. Did you have time to read the offer?
T: I did, and I have marked a few things. May I just go from top to bottom?
U: Please.
T: On page two you count {sites}. One of them is closing next year. Can we leave that one out?
U: Of course. I would keep the price per point, though, even with one less.
T: That is fair. Then installation: two days seems long.
U: The first day is for hanging the sensors, the second for training and for the alarm plans.
S: Could our own electricians hang them? They are on site anyway.
U: They could. I would send a plan, and our engineer only comes for the second day.
T: Take that into the new version, please, as an option.
U: Noted. What about the licences?
T: Twelve months is fine. After that we would like to be able to cancel every quarter.
U: Let me check that with {owner}. Half-yearly I can promise today.
S: One question on data. Where is it stored, and can we get it out?
U: On a server of your own if you want, and yes: everything can be exported at any time, without asking us.
S: That was going to be my next three questions.
T: Then the price. You know that you are not the cheapest.
U: I do. May I ask what the other offer says about calibration?
T: Nothing, now that you mention it.
U: With us the certificates for three years are included. Please compare the totals with that in mind.
T: I will. Send me the new version by Thursday and I can take it to the meeting on Friday.
U: You will have it on Wednesday.
`,
  ),
  conversation(
    'Review of the pilot',
    `
T: So, four weeks. I must say that it was quieter than I had feared.
U: Quiet is what we aim for. Shall we look at the figures together? I am sharing my screen.
T: I see it.
U: Ninety-nine point six per cent of the readings arrived. The gaps are from the morning when you had the power cut.
S: During the power cut it went on measuring?
U: Yes, the readings are kept in the sensor and sent later. You can see here how they arrive in one go.
S: That is neat.
T: Now the alarms. There were far too many in the first week.
U: Fourteen, and twelve of them during deliveries, because the doors stand open.
T: And after you changed the delay?
U: Two in three weeks, and both were real.
S: The second one was the fan. We would not have found that before the summer.
U: What did the night shift think of it?
T: They grumbled, and now they look at it before they look at the clipboard.
U: Then I have only one question left. What would you need in order to go on to {sites}?
T: The roll-out plan with dates, and somebody who explains it to the other managers.
U: I can do both. Would half an hour in your next managers' meeting be possible?
T: The last Tuesday of the month. I will put you on the agenda.
U: Wonderful. I will bring the figures and leave the jargon at home.
T: Then they will even listen.
`,
  ),
  conversation(
    'Contract and delivery',
    `
U: Hello {first}, thank you for making time at short notice.
T: It has to be before my holiday, otherwise nobody signs anything until the end of the month.
U: Then let us be quick. Your legal department has sent five comments, four of which we accept.
T: And the fifth is the one on the payment terms, I suppose.
U: It is. Sixty days is more than we can do. Would forty-five be acceptable?
T: I was told to ask for sixty and to accept forty-five.
U: I appreciate the openness. Then that is settled.
S: What about the price? We would like it fixed for three years.
U: Two years fixed, and in the third at most the rise in consumer prices. Is that something you can carry?
S: Let me think. Yes, if it is written exactly like that.
U: I will send you the sentence this afternoon.
T: Delivery: when could you start in {city}?
U: The sensors are in stock. The gateways take three weeks. I would say the first Monday after that.
T: We have stocktaking then. One week later?
U: One week later it is. Who will be there to open the doors?
T: I will give you the number of the caretaker. He knows every corner and has coffee.
U: That is the most important thing on the whole list.
T: Is there anything that you still need from us?
U: The purchase order, and the names of those who should receive the alarms.
T: You shall have both by Friday.
`,
  ),
  conversation(
    'First month after installation',
    `
U: Hello {first}. A month has passed, so I wanted to hear how {offer} is doing.
T: Better than I expected. May I start with the complaints?
U: I would be worried if there were none.
T: The report comes as one long file. My colleagues want one for each site.
U: That is a setting. I can change it now, if you like. Done: from tomorrow there is one for each site.
T: That was easy. The second: two of our people never get the messages.
U: Let me look. Their numbers were entered without the country code. I have corrected them; they will get a test in a minute.
T: One moment. Yes, I hear a telephone ringing next door.
U: Splendid. And the third?
T: There is no third. The auditor was here last week and took ten minutes instead of two hours.
U: May I quote you on that?
T: If you do not write my name in capital letters.
U: Only small ones. Would you be willing to talk to another customer about it now and then?
T: Twice a month at most, and not on Mondays.
U: Agreed. One more thing: in the spring the first calibration is due. You need not do anything, we will write to you.
T: Good, because I would forget it.
U: That is why we remember. Then I wish you a quiet second month.
T: Thank you, likewise.
`,
  ),
];
