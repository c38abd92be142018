/** The page of the chat. (A stand-in: helper CHAT writes it.) */

document.body.textContent = "";
