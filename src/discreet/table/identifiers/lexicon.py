"""Very common first names and surnames, English and German, to tell a column of people's names by its content.

A few hundred cover about half of the people, which is enough: a column is judged by the share of its values.
Words that are as common in other columns (months, places, trades that stand alone) are left out on purpose.
"""

from __future__ import annotations

from typing import Final


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


FIRST_NAMES: Final = words(
    """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony
    donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob
    gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander
    raymond patrick jack dennis jerry tyler aaron jose adam henry nathan douglas zachary peter kyle walter
    ethan jeremy harold keith roger noah gerald carl terry sean arthur lawrence jesse dylan bryan joe jordan
    billy bruce albert willie gabriel logan alan juan wayne roy ralph randy eugene vincent russell louis
    philip bobby johnny bradley oliver harry leo oscar archie theo alfie freddie charlie liam mason lucas elijah
    mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret
    ashley kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca laura sharon cynthia
    dorothy amy kathleen angela shirley brenda emma anna pamela nicole samantha katherine christine helen debra
    rachel carolyn janet maria catherine heather diane olivia julie joyce ruth virginia victoria kelly lauren
    christina joan evelyn judith andrea hannah megan cheryl jacqueline martha madison teresa gloria sara janice
    ann kathryn abigail sophia frances jean alice judy isabella julia grace amber denise danielle marilyn
    beverly charlotte natalie theresa diana brittany doris kayla alexis lori marie chloe lucy ella amelia poppy
    isla freya eleanor mohammed muhammad ahmed ali fatima aisha
    hans peter wolfgang klaus juergen dieter manfred uwe guenter guenther horst bernd frank thomas stefan andreas
    michael christian martin markus matthias sebastian daniel tobias florian jan alexander philipp tim lukas
    jonas felix maximilian paul leon luca finn elias ben noah moritz julian niklas simon fabian david dominik
    marcel patrick benjamin dennis sven torsten thorsten joerg ralf rainer reinhard gerhard helmut heinz werner
    karl kurt walter herbert ernst guenther hermann otto friedrich wilhelm heinrich georg josef johann johannes
    franz anton rudolf erich siegfried jochen holger dirk lars olaf axel volker ulrich norbert bernhard
    konrad emil theodor jakob valentin linus mehmet mustafa
    ursula monika petra elisabeth sabine renate helga karin brigitte ingrid erika andrea gisela claudia susanne
    gabriele christa christine hildegard anna birgit barbara gerda heike marion martina angelika irmgard stefanie
    nicole julia katharina sandra melanie anja silke katrin kathrin tanja cornelia ute ulrike simone manuela
    kerstin bettina anke jutta christina sonja silvia elke regina rita ilse edith hannelore waltraud margarete
    johanna maria marie sophie sofia emilia hannah mia lena leonie lea lina laura sarah lisa jana vanessa nina
    jasmin annika franziska carolin theresa eva clara klara ida frieda greta mathilda charlotte luise emma
    ayse fatma
    """
)

SURNAMES: Final = words(
    """
    smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson
    anderson thomas taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis
    robinson walker young allen king wright scott torres nguyen hill flores green adams nelson baker hall rivera
    campbell mitchell carter roberts gomez phillips evans turner diaz parker cruz edwards collins reyes stewart
    morris morales murphy cook rogers gutierrez ortiz morgan cooper peterson bailey reed kelly howard ramos kim
    cox ward richardson watson brooks chavez wood james bennett gray mendoza ruiz hughes price alvarez castillo
    sanders patel myers ross foster jimenez powell jenkins perry russell sullivan bell coleman butler henderson
    barnes gonzales fisher vasquez simmons graham murray ford castro marshall owens harrison fernandez mcdonald
    woods wells webb simpson stevens tucker porter hunter hicks crawford boyd mason kennedy warren dixon ramsey
    davies o'brien o'connor walsh byrne ryan khan singh kaur ahmed begum hussain shah chen wang li zhang liu
    mueller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schaefer koch bauer richter klein
    wolf schroeder neumann schwarz zimmermann braun krueger hofmann hartmann lange schmitt werner schmitz krause
    meier lehmann schmid schulze maier koehler herrmann koenig walter mayer huber kaiser fuchs peters lang scholz
    moeller weiss jung hahn schubert vogel friedrich keller guenther frank berger winkler roth beck lorenz baumann
    franke albrecht schuster simon ludwig boehm winter kraus martin schumacher kraemer vogt stein jaeger otto
    sommer gross seidel heinrich brandt haas schreiber graf schulte dietrich ziegler kuhn kuehn pohl engel horn
    busch bergmann thomas voigt sauer arnold wolff pfeiffer ernst lindner huebner kowalski nowak kruse jansen
    hansen petersen nguyen yilmaz kaya demir schroeter thiel gruber steiner moser hofer pichler eder
    """
)

ORGANISATION_WORDS: Final = words(
    """
    hospital hospitals clinic klinik klinikum krankenhaus center centre medical health inc ltd llc plc corp
    corporation company co gmbh ag kg ev university universitaet college school schule gymnasium institute institut
    bank trust foundation stiftung verein association society church kirche department ministry amt praxis pharmacy
    apotheke services service group holding memorial nursing home hotel restaurant store shop pty sa bv
    """
)
"""Words that say that a proper name belongs to an organisation, so that the column does not name people."""
